import { SearchOutlined } from '@ant-design/icons'
import { Button, Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Pill, type Tone } from '../../../parts/table/pill.tsx'
import { useCodeText } from '../../../parts/text/target-code.ts'
import type { Target, TargetKind } from '../make/target-list.ts'

const ROWS_AT_ONCE = 50
const TONES: Record<TargetKind, Tone> = {
  success: 'ok',
  downloading: 'busy',
  absent: 'wait',
  failed: 'bad',
  timeout: 'warn',
  waiting: 'wait',
}

/** Targets in rows, with their codes in words. */
export function TargetTable({
  targets,
  label,
  places = false,
}: {
  targets: readonly Target[]
  label: string
  /** Says of each target where its file goes: not all go to the same place. */
  places?: boolean
}) {
  const { t } = useTranslation()
  const codeText = useCodeText()
  const [search, setSearch] = useState('')
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const wanted = search.trim().toLowerCase()
  const found = targets.filter(
    ({ key, code, message }) =>
      key !== '' && `${key} ${code} ${message} ${codeText(code)}`.toLowerCase().includes(wanted),
  )
  const columns: Column<Target>[] = [
    {
      key: 'target',
      title: t('transfers.column.target'),
      phone: 'bare',
      draw: ({ key, place }) => (
        <span className="transfers-agent">
          {key.replace(/:$/, '')}
          {places && place && <code className="transfers-sub">{place.directory}</code>}
        </span>
      ),
    },
    {
      key: 'kind',
      title: t('transfers.column.status'),
      width: 140,
      draw: ({ kind }) => <Pill tone={TONES[kind]}>{t(`transfers.kind.${kind}`)}</Pill>,
    },
    {
      key: 'why',
      title: t('transfers.column.why'),
      phone: 'bare',
      draw: ({ kind, code, message, progress }) =>
        kind === 'failed' || kind === 'timeout' ? (
          <span className="transfers-why">
            {codeText(code)} <code>{code}</code>
            {message !== '' && <span className="transfers-sub">{message}</span>}
          </span>
        ) : (
          <span className="transfers-sub">{kind === 'downloading' ? `${progress} %` : ''}</span>
        ),
    },
  ]
  return (
    <>
      <Input
        allowClear
        className="transfers-search"
        prefix={<SearchOutlined />}
        aria-label={t('transfers.map.search')}
        placeholder={t('transfers.map.search')}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {found.length === 0 ? (
        <p className="quiet">{t('transfers.map.none')}</p>
      ) : (
        <DataTable label={label} columns={columns} rows={found.slice(0, most)} rowKey={({ key }) => key} />
      )}
      {found.length > most && (
        <div className="transfers-more">
          <Button onClick={() => setMost(most + ROWS_AT_ONCE)}>
            {t('transfers.map.more', { shown: most, total: found.length })}
          </Button>
        </div>
      )}
    </>
  )
}
