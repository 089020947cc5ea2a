import { openUrl, type Sealer, sealUrl } from '../../tenancy/index.ts'
import type { Table } from '../request/index.ts'
import type { HttpPlan } from '../sources/index.ts'

/** A table as the ledger keeps it: how its source is reached is sealed. */
export interface SealedTable extends Omit<Table, 'http'> {
  /** Sealed as a whole: its headers, credentials, address and body may each hold a secret. */
  http?: string
}

export function sealTable(sealer: Sealer, { http, ...table }: Table): SealedTable {
  const sourceUrl = sealUrl(sealer, table.sourceUrl)
  return { ...table, sourceUrl, ...(http && { http: sealer.seal(JSON.stringify(http)) }) }
}

export function openTable(sealer: Sealer, { http, ...table }: SealedTable): Table {
  const sourceUrl = openUrl(sealer, table.sourceUrl)
  return {
    ...table,
    sourceUrl,
    ...(http !== undefined && { http: JSON.parse(sealer.open(http)) as HttpPlan }),
  }
}
