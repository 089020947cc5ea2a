import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Returns what looks whether a file is still where it was opened, and says in words where not. A process keeps a file that was
 * moved or replaced: the ledger would go on in it, while all other files of the data dir are made in another folder, or nowhere.
 */
export function watchPlace(file: string): () => string | undefined {
  const opened = statSync(file)
  return () => {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.ino === opened.ino && found.dev === opened.dev) return undefined
    const what = found === undefined ? 'is gone' : 'is another one than was opened'
    return `the ledger ${file} ${what}: put the folder ${dirname(file)} back, or restart the server`
  }
}
