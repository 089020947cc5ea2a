import { useQuery } from '@tanstack/react-query'
import { Button, Popconfirm } from 'antd'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { deleteProject, getProject, rotateSecret } from '../../../api/admin.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useMadeOnce } from '../../../live/use-once.ts'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { Copyable } from '../../../parts/text/copy-button.tsx'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'
import { KeysPanel } from './keys-panel.tsx'
import { MasksPanel } from './masks-panel.tsx'
import { QuotasPanel } from './quotas-panel.tsx'
import { SecretDialog } from './secret-dialog.tsx'

/** After a leak the old one ends at once. */
const GRACE_HOURS = { usual: 24, leak: 0 } as const

export function ProjectPage({ id }: { id: string }) {
  const t = useWords()
  const queryKey = ['project', id]
  const { data: project, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => getProject(id, signal),
  })
  return (
    <>
      <BackLink href="/admin/projects">{t('part.projects')}</BackLink>
      {error && <ProblemNote error={error} />}
      {project && (
        <>
          <Panel title={project.name}>
            <Copyable text={project.project_id} name={t('project.id')} />
            <MayChange of="admin">
              <Rotate id={id} />
            </MayChange>
          </Panel>
          <KeysPanel projectId={id} />
          <QuotasPanel project={project} />
          <MasksPanel project={project} />
          <MayChange of="admin">
            <DeletePanel id={id} name={project.name} />
          </MayChange>
        </>
      )}
    </>
  )
}

function Rotate({ id }: { id: string }) {
  const t = useWords()
  const [made, setMade] = useState<{ name: string; value: string } | null>(null)
  const replace = useMadeOnce((body: { what: 'api_key' | 'webhook_secret'; grace_hours: number }, attempt) =>
    rotateSecret(id, body, attempt),
  )
  const rotate = useDeed(
    ['keys', id],
    ({ what, grace }: { what: 'api_key' | 'webhook_secret'; grace: keyof typeof GRACE_HOURS }) =>
      replace({ what, grace_hours: GRACE_HOURS[grace] }),
    {
      onDone: (answer, { what }) => setMade({ name: t(`secret.${what}`), value: answer[what] ?? '' }),
    },
  )
  return (
    <div className="admin-rotate">
      {(['api_key', 'webhook_secret'] as const).map((what) => (
        <p key={what}>
          <span>{t(`secret.${what}`)}</span>
          <Popconfirm
            title={t('rotate.question')}
            description={t('rotate.usual_text')}
            okText={t('rotate.usual')}
            cancelText={t('keep')}
            onConfirm={() => rotate.mutate({ what, grace: 'usual' })}
          >
            <Button
              size="small"
              loading={rotate.isPending}
              aria-label={`${t('rotate.usual')}: ${t(`secret.${what}`)}`}
            >
              {t('rotate.usual')}
            </Button>
          </Popconfirm>
          <Popconfirm
            title={t('rotate.question')}
            description={t('rotate.leak_text')}
            okText={t('rotate.leak')}
            okButtonProps={{ danger: true }}
            cancelText={t('keep')}
            onConfirm={() => rotate.mutate({ what, grace: 'leak' })}
          >
            <Button
              danger
              size="small"
              loading={rotate.isPending}
              aria-label={`${t('rotate.leak')}: ${t(`secret.${what}`)}`}
            >
              {t('rotate.leak')}
            </Button>
          </Popconfirm>
        </p>
      ))}
      {made && <SecretDialog title={t('rotate.made')} secrets={[made]} onClose={() => setMade(null)} />}
    </div>
  )
}

function DeletePanel({ id, name }: { id: string; name: string }) {
  const t = useWords()
  const [, go] = useLocation()
  const remove = useDeed(['projects'], () => deleteProject(id), {
    said: t('project.deleted', { name }),
    onDone: () => go('/admin/projects'),
  })
  return (
    <Panel title={t('project.delete')}>
      <p className="admin-line">
        <span className="quiet">{t('project.delete_text')}</span>
        <Popconfirm
          title={t('project.delete_question', { name })}
          okText={t('project.delete')}
          okButtonProps={{ danger: true }}
          cancelText={t('keep')}
          onConfirm={() => remove.mutate(undefined)}
        >
          <Button danger loading={remove.isPending}>
            {t('project.delete')}
          </Button>
        </Popconfirm>
      </p>
    </Panel>
  )
}
