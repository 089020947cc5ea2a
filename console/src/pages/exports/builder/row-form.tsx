import { Checkbox, InputNumber } from 'antd'
import { useTranslation } from 'react-i18next'
import { ColorFields, Field, settingsForm, TextField } from './shared-fields.tsx'
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
  const form = settingsForm(settings, onChange)
  const { set } = form
  return (
    <section className="builder-form" aria-label={t('make.builder.settings')}>
      <TextField form={form} name="title" label={t('make.builder.title')} />
      {!children && (
        <>
          <TextField form={form} name="name" label={t('make.builder.row_key')} />
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
      <ColorFields form={form} />
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
