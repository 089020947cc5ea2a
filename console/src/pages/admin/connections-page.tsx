import { ApiOutlined, DeleteOutlined, EditOutlined, PlusOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button, Popconfirm, Tag, Tooltip } from 'antd'
import { useState } from 'react'
import { type Connection, deleteConnection, listConnections, testConnection } from '../../api/admin.ts'
import { MayChange } from '../../live/may-change.tsx'
import { useProjects } from '../../live/project.ts'
import { EmptyState } from '../../parts/page/empty-state.tsx'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Cut } from '../../parts/text/cut.tsx'
import { RelativeTime } from '../../parts/text/relative-time.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

const KEY = ['connections']

/** Databases that exports may read, and whose. */
export function ConnectionsPage() {
  const t = useWords()
  const { data: projects = [] } = useProjects()
  const {
    data: connections,
    error,
    isFetching,
  } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => listConnections(signal),
  })
  const [edited, setEdited] = useState<Connection | 'new' | null>(null)
  const test = useDeed(KEY, testConnection, { said: t('connection.works') })
  const remove = useDeed(KEY, deleteConnection, { said: t('connection.deleted') })
  const columns: Column<Connection>[] = [
    {
      key: 'name',
      title: t('connection.name'),
      phone: 'bare',
      draw: ({ name }) => (
        <b>
          <Cut text={name} />
        </b>
      ),
    },
    { key: 'driver', title: t('connection.driver'), draw: ({ driver }) => t(`connection.kind.${driver}`) },
    {
      key: 'projects',
      title: t('connection.projects'),
      draw: (one) =>
        one.projects.map((id) => (
          <Tag key={id}>
            <Cut text={projects.find(({ project_id }) => project_id === id)?.name ?? id} />
          </Tag>
        )),
    },
    {
      key: 'changed',
      title: t('connection.changed'),
      draw: ({ updated_at }) => <RelativeTime at={updated_at} />,
    },
    {
      key: 'actions',
      title: t('actions'),
      align: 'right',
      draw: (one) => (
        <MayChange of="admin">
          <span className="admin-actions">
            <Tooltip title={t('connection.test')}>
              <Button
                type="text"
                icon={<ApiOutlined />}
                loading={test.isPending && test.variables === one.name}
                aria-label={`${t('connection.test')}: ${one.name}`}
                onClick={() => test.mutate(one.name)}
              />
            </Tooltip>
            <Button
              type="text"
              icon={<EditOutlined />}
              aria-label={`${t('edit')}: ${one.name}`}
              onClick={() => setEdited(one)}
            />
            <Popconfirm
              title={t('connection.delete_question', { name: one.name })}
              description={t('connection.delete_text')}
              okText={t('delete')}
              okButtonProps={{ danger: true }}
              cancelText={t('keep')}
              onConfirm={() => remove.mutate(one.name)}
            >
              <Button
                type="text"
                danger
                icon={<DeleteOutlined />}
                aria-label={`${t('delete')}: ${one.name}`}
              />
            </Popconfirm>
          </span>
        </MayChange>
      ),
    },
  ]
  return (
    <Panel
      title={t('part.connections')}
      extra={
        <MayChange of="admin">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setEdited('new')}>
            {t('connection.new')}
          </Button>
        </MayChange>
      }
    >
      {error && <ProblemNote error={error} />}
      {connections?.length === 0 && (
        <EmptyState title={t('connection.none')} text={t('connection.none_text')} />
      )}
      {connections && connections.length > 0 && (
        <DataTable
          label={t('part.connections')}
          columns={columns}
          rows={connections}
          rowKey={({ name }) => name}
          busy={isFetching}
        />
      )}
      {edited && (
        <ConnectionDialog given={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </Panel>
  )
}
