import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button, Popconfirm, Tag } from 'antd'
import { useState } from 'react'
import { endKey, type Key, listKeys } from '../../../api/admin.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { useScopeText } from './use-scope-text.ts'

/** The keys of a project, each with what it may do and until when. */
export function KeysPanel({ projectId }: { projectId: string }) {
  const t = useWords()
  const queryKey = ['keys', projectId]
  const {
    data: keys,
    error,
    isFetching,
  } = useQuery({
    queryKey,
    queryFn: ({ signal }) => listKeys(projectId, signal),
  })
  const scopeText = useScopeText()
  const [asks, setAsks] = useState(false)
  const end = useDeed(queryKey, (keyId: string) => endKey(projectId, keyId), { said: t('key.ended') })
  const columns: Column<Key>[] = [
    {
      key: 'name',
      title: t('key.name'),
      phone: 'bare',
      draw: ({ name }) => (
        <b>
          <Cut text={name} />
        </b>
      ),
    },
    {
      key: 'scopes',
      title: t('key.may'),
      draw: ({ scopes }) =>
        scopes.map((scope) => (
          <Tag key={scope} title={scope}>
            {scopeText(scope)}
          </Tag>
        )),
    },
    { key: 'used', title: t('key.used'), draw: ({ last_used_at }) => orDash(last_used_at, t('never')) },
    { key: 'expires', title: t('key.expires'), draw: ({ expires_at }) => orDash(expires_at, t('never')) },
    {
      key: 'actions',
      title: t('actions'),
      align: 'right',
      draw: ({ key_id, name }) => (
        <MayChange of="admin">
          <Popconfirm
            title={t('key.end_question', { name })}
            description={t('key.end_text')}
            okText={t('key.end')}
            okButtonProps={{ danger: true }}
            cancelText={t('keep')}
            onConfirm={() => end.mutate(key_id)}
          >
            <Button type="text" danger icon={<DeleteOutlined />} aria-label={`${t('key.end')}: ${name}`} />
          </Popconfirm>
        </MayChange>
      ),
    },
  ]
  return (
    <Panel
      title={t('key.title')}
      extra={
        <MayChange of="admin">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAsks(true)}>
            {t('key.new')}
          </Button>
        </MayChange>
      }
    >
      {error && <ProblemNote error={error} />}
      {keys && (
        <DataTable
          label={t('key.title')}
          columns={columns}
          rows={keys}
          rowKey={({ key_id }) => key_id}
          busy={isFetching}
        />
      )}
      {asks && <NewKeyDialog projectId={projectId} onClose={() => setAsks(false)} />}
    </Panel>
  )
}

function orDash(at: string | null, never: string) {
  return at === null ? <span className="quiet">{never}</span> : <RelativeTime at={at} />
}
