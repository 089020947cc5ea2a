import { SearchOutlined } from '@ant-design/icons'
import { Input, Select } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ExportFilter } from '../../api/exports.ts'
import './exports.css'

const STATUSES = ['pending', 'processing', 'succeeded', 'failed', 'cancelled'] as const
/** While somebody types, nothing is asked. */
const TYPING_MS = 300

export function ExportFilters({
  filter,
  onChange,
}: {
  filter: ExportFilter
  onChange(next: ExportFilter): void
}) {
  const { t } = useTranslation()
  const [search, setSearch] = useTyped(filter.search, (value) => onChange({ ...filter, search: value }))
  const [operator, setOperator] = useTyped(filter.operator_id, (value) =>
    onChange({ ...filter, operator_id: value }),
  )
  return (
    <search className="exports-filters">
      <Input
        allowClear
        prefix={<SearchOutlined />}
        aria-label={t('exports.filter.search')}
        placeholder={t('exports.filter.search')}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <Select
        allowClear
        aria-label={t('exports.filter.status')}
        placeholder={t('exports.filter.status')}
        value={filter.status}
        onChange={(status) => onChange({ ...filter, status })}
        options={STATUSES.map((value) => ({ value, label: t(`exports.status.${value}`) }))}
      />
      <Input
        allowClear
        aria-label={t('exports.filter.operator')}
        placeholder={t('exports.filter.operator')}
        value={operator}
        onChange={({ target }) => setOperator(target.value)}
      />
    </search>
  )
}

/** Follows what is typed at once, and tells of it when typing pauses. */
function useTyped(given: string | undefined, tell: (value: string | undefined) => void) {
  const [typed, setTyped] = useState(given ?? '')
  useEffect(() => setTyped(given ?? ''), [given])
  const latest = useRef(tell)
  latest.current = tell
  // Typing alone begins the pause anew: rows that move draw the page many times a second.
  useEffect(() => {
    if (typed === (given ?? '')) return
    const timer = setTimeout(() => latest.current(typed || undefined), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, given])
  return [typed, setTyped] as const
}
