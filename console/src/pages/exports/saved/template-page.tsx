import { DeleteOutlined } from '@ant-design/icons'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Segmented, Select } from 'antd'
import { Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { deleteTemplate, getTemplate, putTemplate, type StoredTemplate } from '../../../api/saved.ts'
import { lazyPart } from '../../../live/lazy-part.ts'
import { MayChange } from '../../../live/may-change.tsx'
import { useProject } from '../../../live/project.ts'
import { useOnce } from '../../../live/use-once.ts'
import { Action } from '../../../parts/dialog/action.tsx'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { BackLink } from '../../../parts/page/back-link.tsx'
import { PageHead } from '../../../parts/page/page-head.tsx'
import { PageLoading } from '../../../parts/page/page-loading.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { TemplateBuilder } from '../builder/template-builder.tsx'
import '../make/make.css'
import { asWritten } from '../make/use-start.ts'
import './saved.css'

const TemplateEditor = lazyPart(async () => (await import('../sheet/template-editor.tsx')).TemplateEditor)

/** One template: its columns by form or as JSON, and its versions. */
export function TemplatePage({ name }: { name: string }) {
  const { t } = useTranslation()
  const projectId = useProject()?.project_id
  const [version, setVersion] = useState<number>()
  const { data, error, refetch } = useQuery({
    queryKey: ['templates', projectId, name, version ?? 'newest'],
    queryFn: ({ signal }) =>
      getTemplate(projectId as string, name, { ...(version !== undefined && { version }), signal }),
    enabled: projectId !== undefined,
  })
  const newest = useQuery({
    queryKey: ['templates', projectId, name, 'newest'],
    queryFn: ({ signal }) => getTemplate(projectId as string, name, { signal }),
    enabled: projectId !== undefined,
  }).data?.version
  return (
    <>
      <BackLink href="/saved/templates">{t('make.saved.templates')}</BackLink>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <PageLoading />}
      {data && projectId !== undefined && (
        <Editor
          key={data.version}
          projectId={projectId}
          stored={data}
          newest={newest ?? data.version}
          onVersion={setVersion}
        />
      )}
    </>
  )
}

function Editor({
  projectId,
  stored,
  newest,
  onVersion,
}: {
  projectId: string
  stored: StoredTemplate & { text: string }
  newest: number
  onVersion(version: number | undefined): void
}) {
  const { t } = useTranslation()
  const format = useFormat()
  const toasts = useToasts()
  const client = useQueryClient()
  const [, go] = useLocation()
  const [text, setText] = useState(() => asWritten(stored.text, 'template'))
  const [view, setView] = useState<'form' | 'json'>('form')
  const { name } = stored
  const put = useOnce({
    mutationFn: () => putTemplate(projectId, name, text),
    onSuccess: async () => {
      onVersion(undefined)
      await client.invalidateQueries({ queryKey: ['templates', projectId] })
      toasts.success(t('make.shelf.stored', { name }))
    },
  })
  const remove = useOnce({
    mutationFn: () => deleteTemplate(projectId, name),
    onSuccess: async () => {
      go('/saved/templates')
      await client.invalidateQueries({ queryKey: ['templates', projectId], exact: true })
    },
    onError: toasts.problem,
  })
  return (
    <>
      <PageHead title={name} text={t('make.template.changed_at', { time: format.exact(stored.updated_at) })}>
        <MayChange of="exports">
          <Button
            type="primary"
            loading={put.isPending}
            disabled={text.trim() === ''}
            onClick={() => put.mutate()}
          >
            {t('make.template.save')}
          </Button>
          <Action
            icon={<DeleteOutlined />}
            name={t('make.saved.delete')}
            words
            danger
            busy={remove.isPending}
            confirm={{ question: t('make.template.delete_question'), keep: t('make.cancel') }}
            onClick={() => remove.mutate()}
          />
        </MayChange>
      </PageHead>
      <Panel>
        <div className="saved-versions">
          <Select
            aria-label={t('make.template.version')}
            value={stored.version}
            onChange={(next) => onVersion(next === newest ? undefined : next)}
            options={Array.from({ length: newest }, (_, index) => newest - index).map((value) => ({
              value,
              label: t('make.shelf.version', { version: value }),
            }))}
          />
          <Segmented
            aria-label={t('make.columns.view')}
            value={view}
            onChange={setView}
            options={[
              { value: 'form', label: t('make.columns.form') },
              { value: 'json', label: 'JSON' },
            ]}
          />
        </div>
        {put.error && <ProblemNote error={put.error} />}
        {view === 'form' ? (
          <TemplateBuilder
            text={text}
            onChange={setText}
            seen={undefined}
            onLook={() => go('/exports/new')}
            isLooking={false}
            onJson={() => setView('json')}
          />
        ) : (
          <Suspense fallback={<div className="make-editor-place" />}>
            <TemplateEditor label={t('make.columns.json')} value={text} onChange={setText} refused={null} />
          </Suspense>
        )}
      </Panel>
    </>
  )
}
