import { DisconnectOutlined, PlusOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button, Input, Popconfirm } from 'antd'
import { useState } from 'react'
import { inviteAgent, type KnownAgent, listAllAgents, revokeAgent } from '../../api/admin.ts'
import { MayChange } from '../../live/may-change.tsx'
import { useMadeOnce } from '../../live/use-once.ts'
import { Dialog } from '../../parts/dialog/dialog.tsx'
import { DialogActions } from '../../parts/dialog/dialog-actions.tsx'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Pill } from '../../parts/table/pill.tsx'
import { Cut } from '../../parts/text/cut.tsx'
import { RelativeTime } from '../../parts/text/relative-time.tsx'
import { Field } from './field.tsx'
import { SecretDialog } from './projects/secret-dialog.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

const KEY = ['all-agents']
/** Agents come and go without an event. */
const AGAIN_MS = 5_000
const MOST = 200
const ORDER = new Intl.Collator('en', { numeric: true })

/** Every agent that is enrolled. */
export function AgentsPage() {
  const t = useWords()
  const {
    data: agents,
    error,
    isFetching,
  } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => listAllAgents(signal),
    refetchInterval: AGAIN_MS,
  })
  const [search, setSearch] = useState('')
  const [asks, setAsks] = useState(false)
  const revoke = useDeed(KEY, revokeAgent, { said: t('agent.revoked') })
  const wanted = search.trim().toLowerCase()
  const found = (agents ?? [])
    .filter(({ agent_id, container_id, host, version }) =>
      `${agent_id} ${container_id} ${host} ${version}`.toLowerCase().includes(wanted),
    )
    .sort((a, b) => ORDER.compare(a.agent_id, b.agent_id))
  const nameOf = ({ agent_id, container_id }: KnownAgent) =>
    container_id === '' ? agent_id : `${agent_id} / ${container_id}`
  const columns: Column<KnownAgent>[] = [
    {
      key: 'agent',
      title: t('agent.name'),
      phone: 'bare',
      draw: (agent) => (
        <b>
          <Cut text={nameOf(agent)} />
        </b>
      ),
    },
    {
      key: 'state',
      title: t('agent.state'),
      draw: ({ connected }) => (
        <Pill tone={connected ? 'ok' : 'quiet'}>{t(connected ? 'agent.connected' : 'agent.away')}</Pill>
      ),
    },
    { key: 'version', title: t('agent.version'), draw: ({ version }) => version },
    { key: 'host', title: t('agent.host'), draw: ({ host, port }) => host && `${host}:${port}` },
    {
      key: 'seen',
      title: t('agent.seen'),
      draw: ({ seen_at }) => (seen_at ? <RelativeTime at={seen_at} /> : t('never')),
    },
    {
      key: 'enrolled',
      title: t('agent.enrolled'),
      draw: ({ enrolled_at }) => enrolled_at && <RelativeTime at={enrolled_at} />,
    },
    {
      key: 'actions',
      title: t('actions'),
      align: 'right',
      draw: (agent) => (
        <MayChange of="admin">
          <Popconfirm
            title={t('agent.revoke_question', { name: nameOf(agent) })}
            description={t('agent.revoke_text')}
            okText={t('agent.revoke')}
            okButtonProps={{ danger: true }}
            cancelText={t('keep')}
            onConfirm={() => revoke.mutate(agent)}
          >
            <Button
              type="text"
              danger
              icon={<DisconnectOutlined />}
              aria-label={`${t('agent.revoke')}: ${nameOf(agent)}`}
            />
          </Popconfirm>
        </MayChange>
      ),
    },
  ]
  return (
    <Panel
      title={t('part.agents')}
      extra={
        <MayChange of="admin">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAsks(true)}>
            {t('agent.enrol')}
          </Button>
        </MayChange>
      }
    >
      {error && <ProblemNote error={error} />}
      {agents?.length === 0 && <EmptyState title={t('agent.none')} text={t('agent.none_text')} />}
      {agents && agents.length > 8 && (
        <Input
          allowClear
          className="admin-search"
          aria-label={t('agent.search')}
          placeholder={t('agent.search')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      {found.length > 0 && (
        <DataTable
          label={t('part.agents')}
          columns={columns}
          rows={found.slice(0, MOST)}
          rowKey={({ agent_id, container_id }) => JSON.stringify([agent_id, container_id])}
          busy={isFetching}
        />
      )}
      {found.length > MOST && <p className="quiet">{t('agent.more', { count: found.length - MOST })}</p>}
      {asks && <EnrolDialog onClose={() => setAsks(false)} />}
    </Panel>
  )
}

function EnrolDialog({ onClose }: { onClose(): void }) {
  const t = useWords()
  const [agent, setAgent] = useState('')
  const [container, setContainer] = useState('')
  const make = useMadeOnce(inviteAgent)
  const invite = useDeed(KEY, () => make({ agent_id: agent.trim(), container_id: container.trim() }))
  if (invite.data)
    return (
      <SecretDialog
        title={t('agent.invited', { name: agent.trim() })}
        note={t('agent.invited_text')}
        secrets={[
          { name: t('secret.token'), value: invite.data.token },
          { name: t('agent.command'), value: commandFor(agent.trim(), container.trim(), invite.data.token) },
        ]}
        onClose={onClose}
      />
    )
  return (
    <Dialog
      title={t('agent.enrol')}
      onClose={onClose}
      footer={
        <DialogActions
          cancel={t('cancel')}
          onCancel={onClose}
          action={t('agent.make_token')}
          busy={invite.isPending}
          disabled={!agent.trim()}
          onAction={() => invite.mutate(undefined)}
        />
      }
    >
      <Field label={t('agent.id')} hint={t('agent.id_hint')}>
        {(id) => <Input id={id} autoFocus value={agent} onChange={({ target }) => setAgent(target.value)} />}
      </Field>
      <Field label={t('agent.container')} hint={t('agent.container_hint')}>
        {(id) => <Input id={id} value={container} onChange={({ target }) => setContainer(target.value)} />}
      </Field>
    </Dialog>
  )
}

function commandFor(id: string, container: string, token: string): string {
  const inside = container === '' ? '' : ` --container ${container}`
  return `wharf agent --server ${window.location.origin} --id ${id}${inside} --state /var/lib/wharf-agent --enroll ${token} --root /opt/app --allow-project PROJECT --allow-user USER`
}
