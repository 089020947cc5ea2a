import { metrics } from '../kernel/index.ts'

const EXPORTS = { domain: 'exports' }

interface Amount {
  rows: number
  bytes: number
}

/** What came from a source. An export that is taken up again says less than before; that is not counted twice. */
export function countRead({ rows, bytes }: Amount): void {
  if (rows > 0) metrics.rowsRead.inc(EXPORTS, rows)
  if (bytes > 0) metrics.bytesRead.inc(EXPORTS, bytes)
}

/** What a finished file has. */
export function countWritten({ rows, bytes }: Amount): void {
  metrics.rowsWritten.inc(EXPORTS, rows)
  metrics.bytesWritten.inc(EXPORTS, bytes)
}
