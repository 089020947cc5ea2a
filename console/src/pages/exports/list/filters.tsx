import { SearchOutlined } from '@ant-design/icons'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Input, Select } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { listOperators, STATUSES, TYPES } from '../../../api/exports.ts'
import { session } from '../../../api/session.ts'
import { useProjects } from '../../../live/project.ts'
import { orNothing } from '../../../parts/text/or-nothing.ts'
import { useStore } from '../../../store.ts'
import { isEnd, type ListFilter, PERIODS } from './address-filter.ts'

/** While somebody types, nothing is asked. */
const TYPING_MS = 300

/** Comes from the overview, and can only be taken away. */
const ENDED = 'ended'

interface Props {
  filter: ListFilter
  onChange(next: ListFilter): void
}

export function ExportFilters({ filter, onChange }: Props) {
  const { t } = useTranslation()
  const isAdmin = useStore(session)?.role === 'admin'
  const [search, setSearch] = useTyped(filter.search, (value) => onChange({ ...filter, search: value }))
  return (
    <search className="exports-filters">
      <Input
        allowClear
        className="exports-search"
        prefix={<SearchOutlined />}
        aria-label={t('exports.filter.search')}
        placeholder={t('exports.filter.search')}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {isAdmin && <ProjectFilter filter={filter} onChange={onChange} />}
      <Select
        allowClear
        aria-label={t('exports.filter.status')}
        placeholder={t('exports.filter.status')}
        value={filter.status}
        onChange={(status) =>
          onChange({ ...filter, status, ...(!isEnd(status) && { ended: undefined, sort: undefined }) })
        }
        options={STATUSES.map((value) => ({ value, label: t(`exports.status.${value}`) }))}
      />
      <Select
        allowClear
        aria-label={t('lists.filter.type')}
        placeholder={t('lists.filter.type')}
        value={filter.type}
        onChange={(type) => onChange({ ...filter, type })}
        options={TYPES.map((value) => ({ value, label: t(`exports.type.${value}`) }))}
      />
      <OperatorFilter filter={filter} onChange={onChange} />
      <Select
        allowClear
        aria-label={t('lists.filter.period')}
        placeholder={t('lists.filter.period')}
        value={(filter.ended ? ENDED : filter.period) as ListFilter['period'] | typeof ENDED}
        onChange={(period) => {
          if (period !== ENDED)
            onChange({ ...filter, period, ended: undefined, sort: undefined, from: undefined, to: undefined })
        }}
        options={[
          ...(filter.ended
            ? [
                {
                  value: ENDED,
                  label: t('lists.ended', { period: t(`lists.period.${filter.ended}`) }),
                },
              ]
            : []),
          ...PERIODS.map((value) => ({ value, label: t(`lists.period.${value}`) })),
        ]}
      />
      {filter.period === 'days' && (
        <span className="exports-days">
          <Input
            type="date"
            aria-label={t('lists.filter.from')}
            value={filter.from ?? ''}
            max={filter.to}
            onChange={({ target }) => onChange({ ...filter, from: target.value || undefined })}
          />
          <span aria-hidden="true">–</span>
          <Input
            type="date"
            aria-label={t('lists.filter.to')}
            value={filter.to ?? ''}
            min={filter.from}
            onChange={({ target }) => onChange({ ...filter, to: target.value || undefined })}
          />
        </span>
      )}
    </search>
  )
}

function ProjectFilter({ filter, onChange }: Props) {
  const { t } = useTranslation()
  const { data: projects = [] } = useProjects()
  return (
    <Select
      allowClear
      showSearch={{ optionFilterProp: 'label' }}
      aria-label={t('lists.filter.project')}
      placeholder={t('lists.filter.project')}
      value={filter.project_id}
      // Operators are those of one project.
      onChange={(project_id) => onChange({ ...filter, project_id, operator_id: undefined, sort: undefined })}
      options={projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
    />
  )
}

/** Those who have asked for something in this project; of many, those whose names begin with what is typed. */
function OperatorFilter({ filter, onChange }: Props) {
  const { t } = useTranslation()
  const own = useStore(session)?.projectId ?? undefined
  const projectId = filter.project_id ?? own
  const [typed, setTyped] = useState('')
  const [open, setOpen] = useState(false)
  const { data = [], isFetching } = useQuery({
    queryKey: ['operators', projectId, typed],
    queryFn: ({ signal }) => listOperators(projectId as string, typed, signal),
    enabled: open && projectId !== undefined,
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  })
  return (
    <Select
      allowClear
      showSearch={{ filterOption: false, onSearch: setTyped }}
      loading={isFetching}
      disabled={projectId === undefined && !filter.operator_id}
      aria-label={t('exports.filter.operator')}
      placeholder={projectId === undefined ? t('lists.operator_of_project') : t('exports.filter.operator')}
      value={filter.operator_id}
      onOpenChange={setOpen}
      onChange={(operator_id) => onChange({ ...filter, operator_id })}
      options={orNothing(
        data.map((value) => ({ value, label: value })),
        t('lists.no_operators'),
      )}
    />
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
