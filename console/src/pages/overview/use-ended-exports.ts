import { useQueries } from '@tanstack/react-query'
import { countExports, type ExportPage } from '../../api/exports.ts'
import type { HistoryRange } from '../../api/overview.ts'
import { sinceOf } from '../../parts/table/recent.tsx'

const ENDS = ['succeeded', 'failed'] as const
const AGAIN_MS = 60_000

/**
 * How many exports of that time are done and how many failed, as the list counts them: one that failed and is done by now is done. The
 * plot shows what ended when, and has such a one twice. Events of exports read these again, as they do with the lists.
 */
export function useEndedExports(range: HistoryRange | undefined) {
  const found = useQueries({
    queries: ENDS.map((status) => ({
      queryKey: ['exports', 'ended', range, status],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        countExports({ status, ended_from: sinceOf(range ?? '1h') }, signal),
      enabled: range !== undefined,
      refetchInterval: AGAIN_MS,
      placeholderData: (before: ExportPage | undefined) => before,
    })),
  })
  return Object.fromEntries(ENDS.map((status, index) => [status, found[index]?.data?.total])) as Record<
    (typeof ENDS)[number],
    ExportPage['total']
  >
}
