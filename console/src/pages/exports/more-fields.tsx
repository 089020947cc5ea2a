import { Checkbox, Form, Input, InputNumber } from 'antd'
import { useTranslation } from 'react-i18next'

/** What may be left empty. */
export function MoreFields() {
  const { t } = useTranslation()
  const isExcel = Form.useWatch('type') === 'excel'
  return (
    <>
      <div className="draft-form-pair">
        <Form.Item name="file_name" label={t('exports.form.file_name')}>
          <Input placeholder={t('exports.form.file_name_hint')} />
        </Form.Item>
        <Form.Item name="operator_id" label={t('exports.form.operator')}>
          <Input />
        </Form.Item>
      </div>
      {isExcel && (
        <Form.Item name="title" label={t('exports.form.title')}>
          <Input />
        </Form.Item>
      )}
      <details>
        <summary>{t('exports.form.more')}</summary>
        {isExcel && (
          <Form.Item name="summary" label={t('exports.form.summary')}>
            <Input.TextArea rows={2} />
          </Form.Item>
        )}
        <div className="draft-form-pair">
          <Form.Item
            name="page_size"
            label={t('exports.form.page_size')}
            rules={[{ type: 'integer', min: 100, max: 1000, message: t('exports.form.page_size_wrong') }]}
          >
            <InputNumber placeholder="500" />
          </Form.Item>
          {isExcel && (
            <Form.Item name="timezone" label={t('exports.form.timezone')}>
              <Input placeholder="UTC" />
            </Form.Item>
          )}
        </div>
        <Form.Item
          name="callback"
          label={t('exports.form.callback')}
          rules={[{ type: 'url', message: t('exports.form.callback_wrong') }]}
        >
          <Input inputMode="url" placeholder="https://shop.example/hooks/wharf" />
        </Form.Item>
        <Form.Item name="watermark" valuePropName="checked" extra={t('exports.form.watermark_hint')}>
          <Checkbox>{t('exports.form.watermark')}</Checkbox>
        </Form.Item>
      </details>
    </>
  )
}
