import { Input } from 'antd'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { ColorField } from './color-field.tsx'
import { withSetting } from './edit-tree.ts'
import type { Settings } from './template-tree.ts'

/** What a form reads of a node's settings, and how it changes one of them. */
export function settingsForm(settings: Settings, onChange: (settings: Settings) => void) {
  return {
    settings,
    set: (name: string, value: unknown) => onChange(withSetting(settings, name, value)),
    text: (name: string) => (settings[name] === undefined ? '' : String(settings[name])),
  }
}

type SettingsForm = ReturnType<typeof settingsForm>

export function Field({ label, children }: { label: string; children(id: string): ReactNode }) {
  const id = useId()
  return (
    <div className="builder-field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  )
}

export function TextField({ form, name, label }: { form: SettingsForm; name: string; label: string }) {
  return (
    <Field label={label}>
      {(id) => (
        <Input id={id} value={form.text(name)} onChange={({ target }) => form.set(name, target.value)} />
      )}
    </Field>
  )
}

/** The colours of the letters and of the cell. */
export function ColorFields({ form: { settings, set } }: { form: SettingsForm }) {
  const { t } = useTranslation()
  return (
    <>
      <Field label={t('make.builder.color')}>
        {(id) => <ColorField id={id} value={settings.color} onChange={(value) => set('color', value)} />}
      </Field>
      <Field label={t('make.builder.fill')}>
        {(id) => (
          <ColorField id={id} value={settings.bg_color} onChange={(value) => set('bg_color', value)} />
        )}
      </Field>
    </>
  )
}
