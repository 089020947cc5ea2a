import type { BigIntStats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, ERRORS, isErrno } from '../../kernel/index.ts'
import { cardName, isBlobOf } from './disk-layout.ts'

/** What is known of an artifact besides its bytes, and which blob holds them. */
export interface ArtifactCard {
  blob: string
  size: number
  sha256: string
  contentType: string
  fileName: string | null
  modifiedAt: number
  /** Of the blob, as the file system has it; missing in cards of older versions. */
  stamp?: string
}

/** Whatever writes to a file or takes its place changes it; so does moving or copying it, which costs only a hash. */
export function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

export function etagOf(card: ArtifactCard): string {
  return `"${card.sha256}"`
}

/** The card of a key, or null. */
export async function readCard(folder: string, leaf: string): Promise<ArtifactCard | null> {
  const path = join(folder, cardName(leaf))
  try {
    const card = JSON.parse(await readFile(path, 'utf8')) as ArtifactCard
    // The name leads to a file, so a card that was tampered with must not point elsewhere.
    if (!isBlobOf(leaf, card.blob)) throw new SyntaxError(`it names ${JSON.stringify(card.blob)}`)
    return card
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ENOTDIR')) return null
    if (!(cause instanceof SyntaxError)) throw cause
    throw new AppError(ERRORS.STORAGE_UNAVAILABLE, `${cardName(leaf)} in the file store is damaged`, {
      cause,
      retryable: false,
    })
  }
}
