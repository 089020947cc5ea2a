import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Input, Select } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { getTemplate, listTemplates, putTemplate } from '../../../api/saved.ts'
import { useOnce } from '../../../live/use-once.ts'
import { Dialog } from '../../../parts/dialog/dialog.tsx'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { readTemplate } from '../builder/template-tree.ts'
import { asWritten } from './use-start.ts'

/** Templates of the project: take one over, always use its newest version, or store what is here under a name. */
export function TemplateShelf({
  projectId,
  text,
  onChange,
}: {
  projectId: string
  text: string
  onChange(text: string): void
}) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [storing, setStoring] = useState(false)
  const { data = [] } = useQuery({
    queryKey: ['templates', projectId],
    queryFn: ({ signal }) => listTemplates(projectId, signal),
  })
  const reading = readTemplate(text)
  const used = reading.kind === 'use' ? reading.name : undefined
  const take = useOnce({
    mutationFn: (name: string) => getTemplate(projectId, name),
    onSuccess: (found) => onChange(asWritten(found.text, 'template')),
    onError: toasts.problem,
  })
  if (data.length === 0 && text.trim() === '') return null
  return (
    <div className="make-shelf">
      {data.length > 0 && (
        <Select
          aria-label={t('make.shelf.use')}
          placeholder={t('make.shelf.use')}
          showSearch
          allowClear
          value={used}
          onChange={(name?: string) => onChange(name === undefined ? '' : JSON.stringify({ use: name }))}
          options={data.map(({ name, version }) => ({
            value: name,
            label: `${name} (${t('make.shelf.version', { version })})`,
          }))}
        />
      )}
      {used !== undefined && (
        <Button onClick={() => take.mutate(used)} loading={take.isPending}>
          {t('make.shelf.copy')}
        </Button>
      )}
      {used === undefined && text.trim() !== '' && (
        <Button onClick={() => setStoring(true)}>{t('make.shelf.store')}</Button>
      )}
      {storing && <StoreDialog projectId={projectId} text={text} onClose={() => setStoring(false)} />}
    </div>
  )
}

function StoreDialog({ projectId, text, onClose }: { projectId: string; text: string; onClose(): void }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const put = useOnce({
    mutationFn: () => putTemplate(projectId, name.trim(), text),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['templates', projectId] })
      toasts.success(t('make.shelf.stored', { name: name.trim() }))
      onClose()
    },
  })
  return (
    <Dialog
      title={t('make.shelf.store')}
      onClose={onClose}
      footer={
        <Button
          type="primary"
          disabled={name.trim() === ''}
          loading={put.isPending}
          onClick={() => put.mutate()}
        >
          {t('make.shelf.store_it')}
        </Button>
      }
    >
      <label className="make-label" htmlFor="template-name">
        {t('make.shelf.name')}
      </label>
      <Input id="template-name" value={name} onChange={(event) => setName(event.target.value)} autoFocus />
      <p className="make-hint">{t('make.shelf.name_hint')}</p>
      {put.error && <ProblemNote error={put.error} />}
    </Dialog>
  )
}
