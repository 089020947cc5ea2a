import type { TransferItem } from '../../../api/transfers.ts'

export interface Lane {
  path: string
  /** Deliveries that are under way at the same time are in different rows. */
  rows: TransferItem[][]
}

/** A block is never drawn narrower than this, so it takes no less room. */
const SHORTEST_MS = 15_000

/** A lane per file, and within it as many rows as its deliveries need in order not to cover one another. */
export function lanesOf(
  jobs: readonly TransferItem[],
  { most, endOf }: { most: number; endOf(job: TransferItem): number },
): Lane[] {
  const files = new Map<string, TransferItem[]>()
  for (const job of jobs) {
    const path = `${job.file_path.replace(/\/$/, '')}/${job.file_name}`
    files.set(path, [...(files.get(path) ?? []), job])
  }
  return [...files].slice(0, most).map(([path, windows]) => ({ path, rows: rowsOf(windows, endOf) }))
}

function rowsOf(jobs: readonly TransferItem[], endOf: (job: TransferItem) => number): TransferItem[][] {
  const rows: { jobs: TransferItem[]; until: number }[] = []
  for (const job of [...jobs].sort((a, b) => startOf(a) - startOf(b))) {
    const until = Math.max(endOf(job), startOf(job) + SHORTEST_MS)
    const row = rows.find((candidate) => candidate.until <= startOf(job))
    if (row) {
      row.jobs.push(job)
      row.until = until
    } else rows.push({ jobs: [job], until })
  }
  return rows.map((row) => row.jobs)
}

function startOf(job: TransferItem): number {
  return Date.parse(job.window_starts_at)
}
