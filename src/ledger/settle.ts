import { outageOf } from '../kernel/index.ts'
import type { Ledger } from './ledger.ts'

/** What was done besides a transaction: a file that was moved, an object that was stored. */
export interface Besides {
  /** Whether the ledger has what the transaction made. */
  isMade(): Promise<boolean>
  /** It was made, and only the answer was lost. */
  keep?(): Promise<void>
  undo(): Promise<void>
}

/**
 * Undoes what was done besides a transaction that failed, but never what the ledger may still refer to: after an outage
 * only the ledger knows whether the commit went through. `undecided` while it cannot be asked; then nothing is undone, and
 * somebody has to ask again.
 */
export async function settle(
  ledger: Pick<Ledger, 'untilDecided'>,
  error: unknown,
  { isMade, keep, undo }: Besides,
): Promise<'made' | 'undone' | 'undecided'> {
  let made = false
  if (outageOf(error))
    try {
      await ledger.untilDecided(error)
      made = await isMade()
    } catch {
      return 'undecided'
    }
  await (made ? keep?.() : undo())
  return made ? 'made' : 'undone'
}
