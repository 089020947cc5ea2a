import { Checkbox, Form, Input, InputNumber, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import { everyName } from '../../../../api/every-name.ts'
import type { HttpPreset, PagingStyle } from '../../../../api/exports.ts'
import type { DraftFields } from '../request/draft-fields.ts'
import { DatedInput } from './date-words.tsx'
import { Fold } from './fold.tsx'

const PRESETS = everyName<HttpPreset>({
  wharf: true,
  drf: true,
  spring: true,
  laravel: true,
  postgrest: true,
  odata: true,
  jsonapi: true,
  links: true,
  elasticsearch: true,
  ndjson: true,
  csv: true,
})
const STYLES = everyName<PagingStyle>({ page: true, offset: true, cursor: true, link: true, none: true })

/** An endpoint of any shape: a preset says most of it. */
export function HttpFields() {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const http = Form.useWatch('http', { form, preserve: true }) as DraftFields['http']
  const preset = http?.preset ?? 'wharf'
  const isJson = (_: unknown, text?: string) => {
    try {
      if (text?.trim()) JSON.parse(text)
      return Promise.resolve()
    } catch {
      return Promise.reject(new Error(t('make.http.body_wrong')))
    }
  }
  return (
    <>
      <Form.Item
        name={['http', 'url']}
        label={t('make.source.url')}
        rules={[{ required: true, pattern: /^\s*https?:\/\/\S+/i, message: t('make.source.url_missing') }]}
      >
        <DatedInput field={['http', 'url']} inputMode="url" placeholder="https://shop.example/api/orders/" />
      </Form.Item>
      <Form.Item
        name={['http', 'preset']}
        label={t('make.http.preset')}
        extra={t(`make.http.presets.${preset as 'wharf'}`)}
      >
        <Select
          aria-label={t('make.http.preset')}
          allowClear
          placeholder={t('make.http.names.wharf')}
          options={PRESETS.map((value) => ({ value, label: t(`make.http.names.${value}`) }))}
        />
      </Form.Item>
      <Fold title={t('make.http.details')} text={t('make.http.details_text')}>
        <div className="make-pair">
          <Form.Item name={['http', 'rows']} label={t('make.http.rows')} extra={t('make.http.rows_hint')}>
            <Input placeholder="result.items" />
          </Form.Item>
          <Form.Item name={['http', 'total']} label={t('make.http.total')} extra={t('make.http.total_hint')}>
            <Input placeholder="result.count" disabled={http?.total_unknown ?? false} />
          </Form.Item>
        </div>
        <Form.Item name={['http', 'total_unknown']} valuePropName="checked">
          <Checkbox>{t('make.http.total_unknown')}</Checkbox>
        </Form.Item>
        <div className="make-pair">
          <Form.Item name={['http', 'paging', 'style']} label={t('make.http.style')}>
            <Select
              aria-label={t('make.http.style')}
              allowClear
              placeholder={t('make.as_preset')}
              options={STYLES.map((value) => ({ value, label: t(`make.http.styles.${value}`) }))}
            />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'size']} label={t('make.http.size')}>
            <InputNumber min={1} max={100_000} placeholder="500" />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'page_param']} label={t('make.http.page_param')}>
            <Input placeholder="page" />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'size_param']} label={t('make.http.size_param')}>
            <Input placeholder="page_size" />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'cursor']} label={t('make.http.cursor')}>
            <Input placeholder="meta.next_cursor" />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'cursor_param']} label={t('make.http.cursor_param')}>
            <Input placeholder="cursor" />
          </Form.Item>
          <Form.Item name={['http', 'paging', 'first']} label={t('make.http.first')}>
            <InputNumber min={0} placeholder="0" />
          </Form.Item>
          <Form.Item name={['http', 'method']} label={t('make.http.method')}>
            <Select
              aria-label={t('make.http.method')}
              allowClear
              placeholder={t('make.http.method_auto')}
              options={['GET', 'POST'].map((value) => ({ value, label: value }))}
            />
          </Form.Item>
        </div>
        <Form.Item
          name={['http', 'body']}
          label={t('make.http.body')}
          extra={t('make.http.body_hint', { page: '{{page}}', size: '{{page_size}}', cursor: '{{cursor}}' })}
          rules={[{ validator: isJson }]}
        >
          <Input.TextArea rows={3} className="mono" spellCheck={false} />
        </Form.Item>
      </Fold>
    </>
  )
}
