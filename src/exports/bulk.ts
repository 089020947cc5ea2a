import type { ExportFilter, Outcome } from './export-list.ts'

/** What can be done to many exports at once, each with the exports for which it makes sense. */
const ACTIONS = {
  retry: ['failed', 'cancelled'],
  cancel: ['open'],
  delete_file: ['succeeded'],
} as const satisfies Record<string, readonly Outcome[]>

export type BulkAction = keyof typeof ACTIONS
export const BULK_ACTIONS = Object.keys(ACTIONS) as BulkAction[]

/** All exports that match and that the action can change. */
export function withinReach(action: BulkAction, filter: ExportFilter): ExportFilter {
  return { ...filter, outcomes: ACTIONS[action] }
}
