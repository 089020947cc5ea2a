import { basename, dirname, join } from 'node:path'

/**
 * The layout on disk. `a/b.csv` has a card `a.d/b.csv.card` that says which of the blobs beside it
 * (`a.d/b.csv.<id>.blob`) is the artifact. Replacing the card is the one atomic step of every change; what no card names
 * is a leftover. The endings keep a key and a folder of the same name apart.
 */
const BLOB = /^(.+)\.[0-9a-f]{16}\.blob$/
const TEMPORARY = /\.[0-9a-f]{16}\.tmp$/

/** Parts of the folder that holds a key's card and blobs, relative to the root. */
export function folderParts(key: string): string[] {
  return key
    .split('/')
    .slice(0, -1)
    .map((part) => `${part}.d`)
}

export function leafOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

export const cardName = (leaf: string) => `${leaf}.card`
export const blobName = (leaf: string, id: string) => `${leaf}.${id}.blob`
export const temporaryName = (leaf: string, id: string) => `${leaf}.${id}.tmp`

export function isBlobOf(leaf: string, name: string): boolean {
  return BLOB.exec(name)?.[1] === leaf
}

/** What a file in the store is, by its path relative to the root. */
export function readName(
  path: string,
): { kind: 'card'; key: string } | { kind: 'blob'; card: string } | { kind: 'temporary' } | undefined {
  const name = basename(path)
  const folder = dirname(path)
  if (TEMPORARY.test(name)) return { kind: 'temporary' }
  const leaf = BLOB.exec(name)?.[1]
  if (leaf !== undefined) return { kind: 'blob', card: join(folder, cardName(leaf)) }
  if (!name.endsWith('.card')) return undefined
  const folders = folder === '.' ? [] : folder.split(/[\\/]/).map((part) => part.replace(/\.d$/, ''))
  return { kind: 'card', key: [...folders, name.slice(0, -'.card'.length)].join('/') }
}
