import type { Domain } from '../../api/overview.ts'

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

export function listAddress(domain: Domain, counted: Counted): string {
  return LISTS[domain][counted]
}

/** The page of one piece of work. */
export function pageAddress(domain: Domain, id: string): string {
  if (domain === 'transfers') return `/transfers/job?${new URLSearchParams({ id })}`
  return `/${domain}/${encodeURIComponent(id)}`
}
