import { Form, Input, Segmented, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import type { AreaField } from '../request/draft-fields.ts'
import { Fold } from './fold.tsx'
import { RowList } from './row-list.tsx'

/** What stands above and below the table, and the theme. */
export function LookFields() {
  const { t } = useTranslation()
  return (
    <Fold title={t('make.look.title')} text={t('make.look.text')}>
      <Form.Item name="summary" label={t('make.look.summary')} extra={t('make.look.summary_hint')}>
        <Input.TextArea rows={2} />
      </Form.Item>
      <AreaFields name="header" />
      <AreaFields name="footer" />
      <Form.Item name="theme" label={t('make.look.theme')}>
        <Select
          aria-label={t('make.look.theme')}
          allowClear
          placeholder={t('make.look.themes.business')}
          options={(['business', 'plain'] as const).map((value) => ({
            value,
            label: t(`make.look.themes.${value}`),
          }))}
        />
      </Form.Item>
    </Fold>
  )
}

function AreaFields({ name }: { name: 'header' | 'footer' }) {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const area = Form.useWatch(name, { form, preserve: true }) as AreaField | undefined
  const modes = (['none', 'pairs', 'text', 'other'] as const).filter(
    (mode) => mode !== 'other' || area?.other !== undefined,
  )
  return (
    <>
      <Form.Item name={[name, 'mode']} label={t(`make.look.${name}`)} initialValue="none">
        <Segmented
          aria-label={t(`make.look.${name}`)}
          options={modes.map((value) => ({ value, label: t(`make.look.modes.${value}`) }))}
        />
      </Form.Item>
      {area?.mode === 'text' && (
        <Form.Item name={[name, 'text']}>
          <Input.TextArea rows={2} aria-label={t(`make.look.${name}`)} />
        </Form.Item>
      )}
      {area?.mode === 'pairs' && (
        <RowList name={[name, 'pairs']} add={t('make.look.add_pair')} remove={t('make.look.pair')}>
          {({ name: row }) => (
            <>
              <Form.Item name={[row, 'label']} noStyle>
                <Input aria-label={t('make.look.label')} placeholder={t('make.look.label')} />
              </Form.Item>
              <Form.Item name={[row, 'value']} noStyle>
                <Input aria-label={t('make.look.value')} placeholder={t('make.look.value')} />
              </Form.Item>
            </>
          )}
        </RowList>
      )}
    </>
  )
}
