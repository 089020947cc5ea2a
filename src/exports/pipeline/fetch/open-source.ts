import { AppError, ERRORS } from '../../../kernel/index.ts'
import type { Table } from '../../request/index.ts'
import {
  type FeedDeps,
  HttpPageSource,
  type HttpPlan,
  isPlain,
  openCredentials,
  openHttpRows,
} from '../../sources/index.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'

/** Pages of the seed's protocol. */
export function pageSourceOf(
  deps: ProduceDeps,
  { sourceHeaders, secrets }: ProduceOptions,
  { sourceUrl, http }: Table,
): HttpPageSource {
  if (!http) return new HttpPageSource(deps, { url: sourceUrl, headers: sourceHeaders, secrets })
  const { url, headers } = http
  const credentials = openCredentials(deps, http)
  return new HttpPageSource(deps, { url, headers: { ...headers }, secrets, credentials })
}

/** How the rows of a source are opened that are read one after the other; nothing for pages of the seed's protocol. */
export function openerOf(
  deps: ProduceDeps,
  options: ProduceOptions,
  { sql, http, kept }: Table,
): Pick<FeedDeps, 'open' | 'bytes'> | undefined {
  const { openKept } = options
  if (kept && openKept) return { open: (_, signal) => openKept(kept, signal) }
  if (sql) {
    const { openSql } = options
    if (!openSql)
      throw new AppError(ERRORS.CONNECTION_NOT_FOUND, 'there are no connections to databases here')
    return { open: (_, signal) => openSql(sql, signal) }
  }
  return http && !isPlain(http) ? httpOpener(deps, options, http) : undefined
}

function httpOpener(
  { http, clock, log, mask }: ProduceDeps,
  { secrets, request, onTrouble }: ProduceOptions,
  plan: HttpPlan,
): Pick<FeedDeps, 'open' | 'bytes'> {
  let bytes = 0
  const onBytes = (count: number) => {
    bytes += count
  }
  const settings = { size: request.pageSize, onBytes, ...(onTrouble && { onTrouble }) }
  return {
    open: (from, signal) =>
      openHttpRows({ http, clock, log, secrets, mask }, plan, { ...settings, signal }, from),
    bytes: () => bytes,
  }
}
