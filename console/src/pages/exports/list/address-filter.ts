import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { type ExportFilter, STATUSES, TYPES } from '../../../api/exports.ts'
import { RECENT, type Recent, sinceOf } from '../../../parts/table/recent.tsx'

export const PERIODS = ['1h', '6h', '24h', 'today', '7d', '30d', 'days'] as const
const SORTS = ['created', 'finished', 'name', 'size'].flatMap((name) => [name, `-${name}`])
const NEWEST = '-created'

type Period = (typeof PERIODS)[number]

/** What people choose; days are as their calendar has them. */
export interface ListFilter extends Omit<ExportFilter, 'from' | 'to' | 'ended_from'> {
  period?: Period | undefined
  /** How long ago at most it ended, as the overview counts; only with the status of an end. */
  ended?: Recent | undefined
  from?: string | undefined
  to?: string | undefined
  sort?: string | undefined
}

/** The filter is in the address, so that a reload, a bookmark and the way back keep it. */
export function useAddressFilter(): [ListFilter, (next: ListFilter) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const filter = useMemo(() => {
    const query = new URLSearchParams(search)
    const one = <T extends string>(name: string, of: readonly T[]) =>
      of.find((value) => value === query.get(name))
    const text = (name: string) => query.get(name) || undefined
    const day = (name: string) => (/^\d{4}-\d\d-\d\d$/.test(text(name) ?? '') ? text(name) : undefined)
    return {
      project_id: text('project_id'),
      status: one('status', STATUSES),
      operator_id: text('operator_id'),
      type: one('type', TYPES),
      search: text('search'),
      period: one('period', PERIODS),
      ended: isEnd(query.get('status')) ? one('ended', RECENT) : undefined,
      from: day('from'),
      to: day('to'),
      sort: one('sort', SORTS),
    }
  }, [search])
  const setFilter = (next: ListFilter) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(next)) if (value) query.set(name, String(value))
    go(query.size > 0 ? `${path}?${query}` : path, { replace: true })
  }
  return [filter, setFilter]
}

export const isEnd = (status: string | null | undefined): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled'

/** The order without another choice. */
export const usualSort = ({ ended }: ListFilter): string => (ended ? '-finished' : NEWEST)

const DAYS = { today: 0, '7d': 7, '30d': 30 }

/** As the server takes it. To be kept with the filter: hours are counted from now. */
export function askedOf({ period, from, to, ended, sort: _, ...filter }: ListFilter): ExportFilter {
  if (ended !== undefined) return { ...filter, ended_from: sinceOf(ended) }
  if (period === undefined) return filter
  if (period === 'days')
    return { ...filter, ...(from && { from: startOf(from) }), ...(to && { to: startOf(to, 1) }) }
  if (period === '1h' || period === '6h' || period === '24h') return { ...filter, from: sinceOf(period) }
  const now = new Date()
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS[period])
  return { ...filter, from: day.toISOString() }
}

function startOf(date: string, plusDays = 0): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  return new Date(year, month - 1, day + plusDays).toISOString()
}

export function isFiltered({ sort: _, ...filter }: ListFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}
