import type { AccountParams } from '../../../api/runs.ts'
import { Store } from '../../../store.ts'

/** Filters that were copied from one row and may be put on others. The address stays each account's own. */
export const copiedSettings = new Store<{ from: string; params: AccountParams } | null>(null)
