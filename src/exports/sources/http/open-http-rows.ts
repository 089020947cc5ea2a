import type { Log } from '../../../kernel/index.ts'
import type { Trouble } from '../ask/index.ts'
import { FETCH_DEFAULTS, MAX_PAGE_BYTES } from '../fetch/index.ts'
import type { FeedStart, OpenRows } from '../pages/index.ts'
import type { SourceAsker } from './ask-source.ts'
import { openCsv } from './csv-pages.ts'
import { linePages } from './line-pages.ts'
import { openCredentials } from './open-credentials.ts'
import { openStream } from './open-stream.ts'
import { keysOf } from './paging/answer-page.ts'
import { PageWalk } from './paging/page-walk.ts'
import type { HttpPlan } from './read-http-source.ts'
import { StreamRows } from './stream-rows.ts'

export interface HttpAccess extends Omit<SourceAsker, 'credentials'> {
  log?: Log | undefined
}

export interface HttpRowsOptions {
  /** Rows per page, where the source does not say. */
  size: number
  signal: AbortSignal
  /** Tries after the first one, for each page. */
  retries?: number
  onTrouble?(trouble: Trouble): void
  onBytes?(bytes: number): void
}

/** The rows of a source of any shape, with the first of them read. */
export async function openHttpRows(
  access: HttpAccess,
  plan: HttpPlan,
  { size, signal, retries, onTrouble, onBytes }: HttpRowsOptions,
  from?: FeedStart,
): Promise<OpenRows> {
  const asker = { ...access, credentials: openCredentials(access, plan) }
  const settings = {
    ...FETCH_DEFAULTS,
    ...(retries !== undefined && { retries }),
    ...(onTrouble && { onTrouble }),
    onBytes: onBytes ?? (() => undefined),
    maxPageBytes: MAX_PAGE_BYTES,
    size: plan.size ?? size,
    signal,
  }
  if (plan.format === 'json') return PageWalk.open(asker, plan, settings, from)
  const { bytes, bounded } = await openStream(asker, plan, settings)
  if (plan.format === 'ndjson')
    return StreamRows.open(linePages(bytes), (first) => ({ keys: first ? keysOf(first) : [], grows: true }))
  const { keys, pages, warnings } = await openCsv(bytes, { bounded, fills: plan.fillsLines === true })
  return StreamRows.open(pages, () => ({ keys, grows: false, warnings }))
}
