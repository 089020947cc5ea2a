import type { Domain, HistoryRange } from '../../api/overview.ts'
import { addressOf } from '../../live/page-address.ts'

/** The figures of a domain that have rows elsewhere. */
export type Counted = 'queued' | 'running' | 'finished' | 'failed'

/** The lists with the filter that a figure counts. */
const LISTS: Record<Domain, Record<Counted, string>> = {
  exports: {
    queued: '/exports?status=pending',
    running: '/exports?status=processing',
    finished: '/exports?status=succeeded',
    failed: '/exports?status=failed',
  },
  transfers: {
    queued: '/transfers?status=Pending',
    running: '/transfers?status=Running',
    finished: '/transfers?status=Success',
    failed: '/transfers?status=Failed',
  },
  runs: {
    queued: '/runs?state=Queued',
    running: '/runs?state=Running',
    finished: '/runs?state=Done',
    failed: '/runs?state=Failed',
  },
  processing: {
    queued: '/processing?status=PENDING',
    running: '/processing?status=PROCESSING',
    finished: '/processing?status=COMPLETED',
    failed: '/processing?status=FAILED',
  },
}

/** What has ended is counted over a time, and listed for it; what is open is open now. */
export function listAddress(domain: Domain, counted: Counted, range: HistoryRange): string {
  const isOver = counted === 'finished' || counted === 'failed'
  // Exports are listed by when they ended, as they are counted.
  const time = domain === 'exports' ? 'ended' : 'period'
  return isOver ? `${LISTS[domain][counted]}&${time}=${range}` : LISTS[domain][counted]
}

/** The page of one piece of work. */
export function pageAddress(domain: Domain, id: string): string {
  if (domain === 'transfers') return `/transfers/job?${new URLSearchParams({ id })}`
  return addressOf(`/${domain}`, id)
}
