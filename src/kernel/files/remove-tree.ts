import { rm } from 'node:fs/promises'

/** A program that is about to end may still write there: what it has written goes, too. */
const AGAIN = { maxRetries: 5, retryDelay: 20 }

/** Removes a file, or a folder with all that is in it. Nothing there is fine. */
export function removeTree(path: string): Promise<void> {
  // biome-ignore lint/plugin: this is the one place.
  return rm(path, { recursive: true, force: true, ...AGAIN })
}

/** The same to tidy up after something else, above all after a failure, which it must not hide: it never rejects. */
export async function clearAway(...paths: string[]): Promise<void> {
  for (const path of paths) await removeTree(path).catch(() => undefined)
}
