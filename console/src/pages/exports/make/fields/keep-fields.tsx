import { Checkbox, Form, InputNumber } from 'antd'
import { useTranslation } from 'react-i18next'
import { Fold } from './fold.tsx'

const HOURS = { min: 1, max: 720 }

/** How long the file stays, who can fetch it, and what marks it. */
export function KeepFields() {
  const { t } = useTranslation()
  const number = (name: 'keep_hours' | 'keep_rows_hours' | 'link_hours' | 'link_uses', most: number) => (
    <Form.Item
      name={name}
      label={t(`make.keep.${name}`)}
      rules={[{ type: 'integer', min: 1, max: most, message: t('make.between', { least: 1, most }) }]}
    >
      <InputNumber placeholder={t(`make.keep.usual.${name}`)} />
    </Form.Item>
  )
  return (
    <Fold title={t('make.keep.title')} text={t('make.keep.text')}>
      <div className="make-pair">
        {number('keep_hours', HOURS.max)}
        {number('keep_rows_hours', HOURS.max)}
        {number('link_hours', HOURS.max)}
        {number('link_uses', 1_000_000)}
      </div>
      <Form.Item name="watermark" valuePropName="checked" extra={t('make.keep.watermark_hint')}>
        <Checkbox>{t('make.keep.watermark')}</Checkbox>
      </Form.Item>
    </Fold>
  )
}
