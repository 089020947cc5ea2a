import { useQuery } from '@tanstack/react-query'
import { Input } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { session } from '../../../api/session.ts'
import { type ConnectedAgent, listAgents } from '../../../api/transfers.ts'
import { useMayChange } from '../../../live/may-change.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { CopyButton } from '../../../parts/text/copy-button.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { useStore } from '../../../store.ts'

const COMMAND = `wharf agent \\\n  --server ${window.location.origin} \\\n  --id HOST --enroll TOKEN \\\n  --state DIRECTORY \\\n  --root DIRECTORY \\\n  --allow-project PROJECT \\\n  --allow-user USER`
/** Agents come and go without an event. */
const AGAIN_MS = 5_000
const MOST = 5
/** Beyond this, a list is searched, not read. */
const MANY = 5
const ORDER = new Intl.Collator('en', { numeric: true })

export function useAgents() {
  return useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => listAgents(signal),
    refetchInterval: AGAIN_MS,
  })
}

export function AgentsPanel() {
  const { t } = useTranslation()
  const format = useFormat()
  const isAdmin = useStore(session)?.role === 'admin'
  const mayEnrol = useMayChange('admin')
  const mayDeliver = useMayChange('transfers')
  const [search, setSearch] = useState('')
  const { data: agents, error, isFetching } = useAgents()
  const wanted = search.trim().toLowerCase()
  const found = (agents ?? [])
    .filter(({ agent_id, container_id, host }) =>
      `${agent_id} ${container_id} ${host}`.toLowerCase().includes(wanted),
    )
    .sort((a, b) => ORDER.compare(a.agent_id, b.agent_id))
  const columns: Column<ConnectedAgent>[] = [
    {
      key: 'agent',
      title: t('transfers.agents.agent'),
      phone: 'bare',
      draw: ({ agent_id, container_id }) => (
        <span className="transfers-agent">
          {agent_id}
          {container_id !== '' && <span className="transfers-sub"> {container_id}</span>}
        </span>
      ),
    },
    {
      key: 'host',
      title: t('transfers.agents.host'),
      phone: 'hidden',
      draw: ({ host }) => <span className="transfers-sub">{host}</span>,
    },
    {
      key: 'since',
      title: t('transfers.agents.since'),
      align: 'right',
      draw: ({ connected_at }) => <RelativeTime at={connected_at} />,
    },
  ]
  return (
    <Panel
      title={t('transfers.agents.title')}
      extra={agents && <b className="transfers-big">{format.number(agents.length)}</b>}
    >
      {error && <ProblemNote error={error} />}
      {agents?.length === 0 && (
        <>
          <p className="quiet">
            {t(isAdmin || !mayDeliver ? 'transfers.agents.empty_plain' : 'transfers.agents.empty')}
          </p>
          {isAdmin && mayEnrol && <Link href="/admin/agents">{t('transfers.agents.enrol')}</Link>}
          {!isAdmin && mayDeliver && (
            <pre className="transfers-command">
              <CopyButton text={COMMAND} name="wharf agent" />
              {COMMAND}
            </pre>
          )}
        </>
      )}
      {agents && agents.length > MANY && (
        <Input
          allowClear
          className="transfers-search"
          aria-label={t('transfers.agents.search')}
          placeholder={t('transfers.agents.search')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      {found.length > 0 && (
        <DataTable
          label={t('transfers.agents.title')}
          columns={columns}
          rows={found.slice(0, MOST)}
          rowKey={({ agent_id, container_id }) => JSON.stringify([agent_id, container_id])}
          busy={isFetching}
        />
      )}
      {found.length > MOST && (
        <p className="transfers-sub">
          {t('transfers.agents.more', {
            count: found.length - MOST,
            more: format.number(found.length - MOST),
          })}
        </p>
      )}
    </Panel>
  )
}
