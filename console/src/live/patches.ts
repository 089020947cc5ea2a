import type { QueryClient } from '@tanstack/react-query'
import { patchExports } from '../pages/exports/patch.ts'
import { patchTasks } from '../pages/processing/patch.ts'
import { patchRuns } from '../pages/runs/patch.ts'
import { patchTransfers } from '../pages/transfers/patch.ts'
import type { Refresher } from './refresher.ts'
import type { LiveEvent } from './server-events.ts'

/** Brings what the pages have read up to an event: at once where the event says enough, else by reading again. */
export type Patch = (event: LiveEvent, client: QueryClient, refresher: Refresher) => void

/** One line a domain; a patch ignores the events of others. */
export const PATCHES: readonly Patch[] = [patchExports, patchRuns, patchTransfers, patchTasks]
