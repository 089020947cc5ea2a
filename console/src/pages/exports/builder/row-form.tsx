import { Checkbox, Input, InputNumber } from 'antd'
import { useTranslation } from 'react-i18next'
import { ColorField } from './color-field.tsx'
import { Field } from './column-form.tsx'
import { withSetting } from './edit-tree.ts'
import type { Settings, TreeNode } from './template-tree.ts'

/** What can be said of a row header. */
export function RowForm({
  node: { settings, children },
  onChange,
}: {
  node: TreeNode
  onChange(settings: Settings): void
}) {
  const { t } = useTranslation()
  const set = (name: string, value: unknown) => onChange(withSetting(settings, name, value))
  const text = (name: string) => (settings[name] === undefined ? '' : String(settings[name]))
  return (
    <section className="builder-form" aria-label={t('make.builder.settings')}>
      <Field label={t('make.builder.title')}>
        {(id) => (
          <Input id={id} value={text('title')} onChange={({ target }) => set('title', target.value)} />
        )}
      </Field>
      {!children && (
        <>
          <Field label={t('make.builder.row_key')}>
            {(id) => (
              <Input id={id} value={text('name')} onChange={({ target }) => set('name', target.value)} />
            )}
          </Field>
          <Field label={t('make.builder.row_count')}>
            {(id) => (
              <InputNumber
                id={id}
                min={0}
                max={1_048_576}
                value={(settings.row_count as number | undefined) ?? null}
                onChange={(value) => set('row_count', value)}
              />
            )}
          </Field>
        </>
      )}
      <Field label={t('make.builder.color')}>
        {(id) => <ColorField id={id} value={settings.color} onChange={(value) => set('color', value)} />}
      </Field>
      <Field label={t('make.builder.fill')}>
        {(id) => (
          <ColorField id={id} value={settings.bg_color} onChange={(value) => set('bg_color', value)} />
        )}
      </Field>
      <div className="builder-wide">
        <Checkbox
          checked={settings.bold !== false}
          onChange={({ target }) => set('bold', target.checked ? undefined : false)}
        >
          {t('make.builder.bold')}
        </Checkbox>
      </div>
    </section>
  )
}
