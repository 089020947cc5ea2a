import { lstat, opendir, rm } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isErrno } from '../../kernel/index.ts'
import { type ArtifactCard, readCard } from './artifact-card.ts'
import { readName } from './disk-layout.ts'

/** Every file below, links left aside. What vanishes meanwhile is passed over. */
async function* files(folder: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) yield* files(path)
      else if (entry.isFile()) yield path
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}

export async function* listCards(
  root: string,
  prefix: string,
): AsyncGenerator<{ key: string; card: ArtifactCard }> {
  // Only the last part of a prefix may be half a name; the folders before it are whole.
  const folders = prefix.split('/').slice(0, -1)
  if (folders.some((part) => part === '' || part === '.' || part === '..' || /[\\\0]/.test(part))) return
  for await (const path of files(join(root, ...folders.map((part) => `${part}.d`)))) {
    const name = readName(relative(root, path))
    if (name?.kind !== 'card' || !name.key.startsWith(prefix)) continue
    const card = await readCard(dirname(path), basename(path, '.card'))
    if (card) yield { key: name.key, card }
  }
}

/** Removes unfinished files and blobs that no card names, if they were last touched before that moment. */
export async function sweepFolder(root: string, before: number, signal?: AbortSignal): Promise<number> {
  let swept = 0
  for await (const path of files(root)) {
    signal?.throwIfAborted()
    const name = readName(relative(root, path))
    if (!name || name.kind === 'card') continue
    // A file that was moved in keeps its old mtime; the rename itself only shows in ctime.
    const found = await lstat(path).catch(() => null)
    if (!found || Math.max(found.mtimeMs, found.ctimeMs) > before) continue
    if (name.kind === 'blob' && (await isNamed(root, name.card, path))) continue
    await rm(path, { force: true })
    swept++
  }
  return swept
}

/** A damaged card may name the blob, so its blob is kept. */
async function isNamed(root: string, cardPath: string, blobPath: string): Promise<boolean> {
  try {
    const card = await readCard(dirname(join(root, cardPath)), basename(cardPath, '.card'))
    return card?.blob === basename(blobPath)
  } catch {
    return true
  }
}
