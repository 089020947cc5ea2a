import type { Patch } from '../live/patch.ts'
import { patchExports } from './exports/patch.ts'
import { patchTasks } from './processing/patch.ts'
import { patchRuns } from './runs/patch.ts'
import { patchTransfers } from './transfers/patch.ts'

/** One line per domain; a patch ignores the events of others. */
export const PATCHES: readonly Patch[] = [patchExports, patchRuns, patchTransfers, patchTasks]
