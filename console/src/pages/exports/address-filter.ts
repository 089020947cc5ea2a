import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import type { ExportFilter, ExportStatus } from '../../api/exports.ts'

const STATUSES: readonly string[] = ['pending', 'processing', 'succeeded', 'failed', 'cancelled']

/** The filter stands in the address, so that a reload, a bookmark and the way back keep it. */
export function useAddressFilter(): [ExportFilter, (next: ExportFilter) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const filter = useMemo(() => {
    const query = new URLSearchParams(search)
    const status = query.get('status') ?? ''
    return {
      status: STATUSES.includes(status) ? (status as ExportStatus) : undefined,
      operator_id: query.get('operator_id') ?? undefined,
      search: query.get('search') ?? undefined,
    }
  }, [search])
  const setFilter = (next: ExportFilter) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(next)) if (value) query.set(name, String(value))
    go(query.size > 0 ? `${path}?${query}` : path, { replace: true })
  }
  return [filter, setFilter]
}
