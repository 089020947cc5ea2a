import { LogoutOutlined } from '@ant-design/icons'
import { useQuery } from '@tanstack/react-query'
import { Button, Popconfirm, Tag } from 'antd'
import { endSession, type ListedSession, listSessions } from '../../api/admin.ts'
import { session } from '../../api/session.ts'
import { MayChange } from '../../live/may-change.tsx'
import { useProjects } from '../../live/project.ts'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../parts/table/data-table.tsx'
import { Cut } from '../../parts/text/cut.tsx'
import { RelativeTime } from '../../parts/text/relative-time.tsx'
import { useStore } from '../../store.ts'
import { useDeed } from './use-deed.ts'
import { useNames } from './use-names.ts'
import { useWords } from './words.ts'

const AGAIN_MS = 15_000
const MOST_PROJECTS = 50

/** Who is signed in, with which roles; roles themselves are given by the identity provider. */
export function SessionsPage() {
  const t = useWords()
  const own = useStore(session)?.id
  const { data: projects = [] } = useProjects()
  const {
    data: sessions,
    error,
    isFetching,
  } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => listSessions(signal),
    refetchInterval: AGAIN_MS,
  })
  const end = useDeed(['sessions'], endSession, { said: t('session.ended') })
  // A session does not say whose key it is.
  const names = useNames(projects.slice(0, MOST_PROJECTS).map(({ project_id }) => project_id))
  const projectName = (id: string) => projects.find(({ project_id }) => project_id === id)?.name ?? id
  const rolesOf = ({ by, roles }: ListedSession) => {
    if (by === 'token') return [t('session.role.admin')]
    if (!roles) return [t('session.role.key')]
    return [
      ...(roles.admin ? [t('session.role.admin')] : []),
      ...(roles.viewer ? [t('session.role.viewer')] : []),
      ...Object.entries(roles.projects).map(
        ([id, role]) =>
          `${t(role === 'operator' ? 'session.role.operator' : 'session.role.viewer')}: ${projectName(id)}`,
      ),
    ]
  }
  const columns: Column<ListedSession>[] = [
    {
      key: 'who',
      title: t('session.who'),
      phone: 'bare',
      draw: (one) => (
        <>
          <b>
            <Cut
              text={one.name ?? (one.by === 'token' ? t('session.token') : names.who(`key ${one.key_id}`))}
            />
          </b>
          {one.session_id === own && <Tag className="admin-own">{t('session.own')}</Tag>}
        </>
      ),
    },
    {
      key: 'roles',
      title: t('session.roles'),
      draw: (one) =>
        rolesOf(one).map((role) => (
          <Tag key={role}>
            <Cut text={role} />
          </Tag>
        )),
    },
    { key: 'address', title: t('session.address'), draw: ({ address }) => address ?? '' },
    { key: 'since', title: t('session.since'), draw: ({ created_at }) => <RelativeTime at={created_at} /> },
    { key: 'until', title: t('session.until'), draw: ({ expires_at }) => <RelativeTime at={expires_at} /> },
    {
      key: 'actions',
      title: t('actions'),
      align: 'right',
      draw: ({ session_id, name }) => (
        <MayChange of="admin">
          <Popconfirm
            title={t('session.end_question')}
            description={t('session.end_text')}
            okText={t('session.end')}
            okButtonProps={{ danger: true }}
            cancelText={t('keep')}
            onConfirm={() => end.mutate(session_id)}
          >
            <Button
              type="text"
              danger
              icon={<LogoutOutlined />}
              aria-label={`${t('session.end')}: ${name ?? session_id}`}
            />
          </Popconfirm>
        </MayChange>
      ),
    },
  ]
  return (
    <Panel title={t('session.title')}>
      <p className="quiet">{t('session.text')}</p>
      {error && <ProblemNote error={error} />}
      {sessions && (
        <DataTable
          label={t('session.title')}
          columns={columns}
          rows={sessions}
          rowKey={({ session_id }) => session_id}
          busy={isFetching}
        />
      )}
    </Panel>
  )
}
