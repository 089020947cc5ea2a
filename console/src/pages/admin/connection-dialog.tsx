import { Input, Select } from 'antd'
import { useState } from 'react'
import { type Connection, putConnection } from '../../api/admin.ts'
import { useProjects } from '../../live/project.ts'
import { Dialog } from '../../parts/dialog/dialog.tsx'
import { DialogActions } from '../../parts/dialog/dialog-actions.tsx'
import { Field } from './field.tsx'
import { useDeed } from './use-deed.ts'
import { useWords } from './words.ts'

const EXAMPLES = {
  postgres: 'postgres://reader:secret@db.example.com/erp',
  mysql: 'mysql://reader:secret@db.example.com/erp',
  sqlite: '/data/shop.db',
} as const

/** The address is never shown again, so a change says it anew. */
export function ConnectionDialog({ given, onClose }: { given: Connection | null; onClose(): void }) {
  const t = useWords()
  const { data: projects = [] } = useProjects()
  const [name, setName] = useState(given?.name ?? '')
  const [driver, setDriver] = useState<Connection['driver']>(given?.driver ?? 'postgres')
  const [url, setUrl] = useState('')
  const [granted, setGranted] = useState<string[]>(given?.projects ?? [])
  const save = useDeed(
    ['connections'],
    () => putConnection(name.trim(), { driver, url, projects: granted }),
    {
      said: t('saved'),
      onDone: onClose,
    },
  )
  return (
    <Dialog
      title={given ? t('connection.change', { name: given.name }) : t('connection.new')}
      onClose={onClose}
      footer={
        <DialogActions
          cancel={t('cancel')}
          onCancel={onClose}
          action={t('save')}
          busy={save.isPending}
          disabled={!name.trim() || !url}
          onAction={() => save.mutate(undefined)}
        />
      }
    >
      <Field label={t('connection.name')} hint={t('connection.name_hint')}>
        {(id) => (
          <Input
            id={id}
            autoFocus={!given}
            disabled={given !== null}
            maxLength={200}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <Field label={t('connection.driver')}>
        {(id) => (
          <Select
            id={id}
            value={driver}
            onChange={setDriver}
            options={(Object.keys(EXAMPLES) as Connection['driver'][]).map((value) => ({
              value,
              label: t(`connection.kind.${value}`),
            }))}
          />
        )}
      </Field>
      <Field label={t('connection.url')} hint={t('connection.url_hint')}>
        {(id) => (
          <Input.Password
            id={id}
            autoComplete="off"
            placeholder={EXAMPLES[driver]}
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      <Field label={t('connection.projects')} hint={t('connection.projects_hint')}>
        {(id) => (
          <Select
            id={id}
            mode="multiple"
            showSearch={{ optionFilterProp: 'label' }}
            value={granted}
            onChange={setGranted}
            options={projects.map(({ project_id, name: label }) => ({ value: project_id, label }))}
          />
        )}
      </Field>
    </Dialog>
  )
}
