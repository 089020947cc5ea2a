import { Select } from 'antd'
import { useId, useState } from 'react'
import { createKey, type NewKey, type Scope } from '../../../api/admin.ts'
import { useMadeOnce } from '../../../live/use-once.ts'
import { AskDialog, NameField } from '../ask-dialog.tsx'
import { Field } from '../field.tsx'
import { useDeed } from '../use-deed.ts'
import { useWords } from '../words.ts'
import { SecretDialog } from './secret-dialog.tsx'

/** What most keys are for; anything else is put together out of scopes. */
const KINDS = { read: ['read'], exports: ['exports:*'], all: ['all'] } as const satisfies Record<
  string,
  Scope[]
>
const SCOPES: readonly Scope[] = [
  'exports:read',
  'exports:write',
  'transfers:read',
  'transfers:write',
  'processing:read',
  'processing:write',
  'runs:read',
  'runs:write',
  'admin',
]
const DAYS = [7, 30, 90, 365] as const
const DAY_MS = 86_400_000

type Kind = keyof typeof KINDS | 'own'

export function NewKeyDialog({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const t = useWords()
  const id = useId()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('read')
  const [own, setOwn] = useState<Scope[]>([])
  const [days, setDays] = useState<number>(90)
  // The same from one press to the next, so that what is sent again is the same.
  const [opened] = useState(Date.now)
  const make = useMadeOnce((key: NewKey, attempt) => createKey(projectId, key, attempt))
  const create = useDeed(['keys', projectId], () =>
    make({
      name: name.trim(),
      scopes: kind === 'own' ? own : [...KINDS[kind]],
      ...(days > 0 && { expires_at: new Date(opened + days * DAY_MS).toISOString() }),
    }),
  )
  if (create.data)
    return (
      <SecretDialog
        title={t('key.made', { name: create.data.name })}
        secrets={[{ name: t('secret.key'), value: create.data.api_key }]}
        note={kind === 'own' ? create.data.scopes.join(', ') : t(`key.kind_text.${kind}`)}
        onClose={onClose}
      />
    )
  const fits = name.trim() !== '' && (kind !== 'own' || own.length > 0)
  return (
    <AskDialog
      title={t('key.new')}
      action={t('key.create')}
      busy={create.isPending}
      fits={fits}
      onAction={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <NameField label={t('key.name')} hint={t('key.name_hint')} value={name} onChange={setName} />
      <fieldset className="admin-kinds">
        <legend>{t('key.may')}</legend>
        {(['read', 'exports', 'all', 'own'] as const).map((one) => (
          <label key={one}>
            <input type="radio" name={`${id}-kind`} checked={kind === one} onChange={() => setKind(one)} />
            <span>
              <b>{t(`key.kind.${one}`)}</b>
              <small>{t(`key.kind_text.${one}`)}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {kind === 'own' && (
        <Select
          mode="multiple"
          className="admin-wide"
          aria-label={t('key.scopes')}
          placeholder={t('key.scopes')}
          value={own}
          onChange={setOwn}
          options={SCOPES.map((value) => ({ value, label: value }))}
        />
      )}
      <Field label={t('key.expires')}>
        {(id) => (
          <Select
            id={id}
            value={days}
            onChange={setDays}
            options={[
              ...DAYS.map((value) => ({ value: value as number, label: t('key.in_days', { count: value }) })),
              { value: 0, label: t('never') },
            ]}
          />
        )}
      </Field>
    </AskDialog>
  )
}
