import { PlusOutlined } from '@ant-design/icons'
import { Button, Input } from 'antd'
import { useState } from 'react'
import { Link } from 'wouter'
import { createProject } from '../../../api/admin.ts'
import type { Project } from '../../../api/projects.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { addressOf } from '../../../live/page-address.ts'
import { useProjects } from '../../../live/project.ts'
import { useMadeOnce } from '../../../live/use-once.ts'
import { EmptyState } from '../../../parts/page/empty-state.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { type Column, DataTable } from '../../../parts/table/data-table.tsx'
import { Copyable } from '../../../parts/text/copy-button.tsx'
import { Cut } from '../../../parts/text/cut.tsx'
import { RelativeTime } from '../../../parts/text/relative-time.tsx'
import { AskDialog, NameField } from '../ask-dialog.tsx'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'
import { SecretDialog } from './secret-dialog.tsx'

export function ProjectsPage() {
  const t = useWords()
  const { data: projects, error, isFetching } = useProjects()
  const [search, setSearch] = useState('')
  const [asks, setAsks] = useState(false)
  const wanted = search.trim().toLowerCase()
  const found = projects?.filter(({ name, project_id }) =>
    `${name} ${project_id}`.toLowerCase().includes(wanted),
  )
  const columns: Column<Project>[] = [
    {
      key: 'name',
      title: t('project.name'),
      phone: 'bare',
      draw: ({ project_id, name }) => (
        <Link href={addressOf('/admin/projects', project_id)} className="admin-name">
          <Cut text={name} />
        </Link>
      ),
    },
    {
      key: 'id',
      title: t('project.id'),
      draw: ({ project_id }) => <Copyable text={project_id} name={t('project.id')} />,
    },
    {
      key: 'created',
      title: t('project.created'),
      draw: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      key: 'exports',
      title: t('project.exports'),
      draw: ({ project_id }) => (
        <Link href={`/exports?project_id=${encodeURIComponent(project_id)}`}>
          {t('project.show_exports')}
        </Link>
      ),
    },
  ]
  return (
    <Panel
      title={t('part.projects')}
      extra={
        <MayChange of="admin">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAsks(true)}>
            {t('project.new')}
          </Button>
        </MayChange>
      }
    >
      {error && <ProblemNote error={error} />}
      {projects && projects.length > 8 && (
        <Input
          allowClear
          className="admin-search"
          aria-label={t('project.search')}
          placeholder={t('project.search')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      {projects?.length === 0 && <EmptyState title={t('project.none')} text={t('project.none_text')} />}
      {found && found.length > 0 && (
        <DataTable
          label={t('part.projects')}
          columns={columns}
          rows={found}
          rowKey={({ project_id }) => project_id}
          busy={isFetching}
        />
      )}
      {asks && <NewProject onClose={() => setAsks(false)} />}
    </Panel>
  )
}

function NewProject({ onClose }: { onClose(): void }) {
  const t = useWords()
  const [name, setName] = useState('')
  const create = useDeed(['projects'], useMadeOnce(createProject))
  const made = create.data
  if (made)
    return (
      <SecretDialog
        title={t('project.made', { name: made.name })}
        secrets={[
          { name: t('secret.api_key'), value: made.api_key },
          { name: t('secret.webhook_secret'), value: made.webhook_secret },
          { name: t('project.id'), value: made.project_id },
        ]}
        onClose={onClose}
      />
    )
  const submit = () => void (name.trim() && create.mutate(name.trim()))
  return (
    <AskDialog
      title={t('project.new')}
      action={t('project.create')}
      busy={create.isPending}
      fits={name.trim() !== ''}
      onAction={submit}
      onClose={onClose}
    >
      <NameField
        label={t('project.name')}
        hint={t('project.name_hint')}
        value={name}
        onChange={setName}
        onEnter={submit}
      />
    </AskDialog>
  )
}
