import { Form, Input, InputNumber, Select } from 'antd'
import { useTranslation } from 'react-i18next'
import type { SourceKind } from '../request/draft-fields.ts'
import { Fold } from './fold.tsx'
import { RowList } from './row-list.tsx'
import { TimeZoneSelect } from './time-zone-select.tsx'

/** How the rows are read: pages, time zone, rows that repeat, the queue, and what changes from run to run. */
export function ReadingFields() {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const kind = Form.useWatch('kind', { form, preserve: true }) as SourceKind | undefined
  return (
    <Fold title={t('make.reading.title')} text={t('make.reading.text')}>
      <div className="make-pair">
        <Form.Item name="timezone" label={t('make.reading.timezone')} extra={t('make.reading.timezone_hint')}>
          <TimeZoneSelect />
        </Form.Item>
        {(kind === 'address' || kind === 'sheets') && (
          <Form.Item
            name="page_size"
            label={t('make.reading.page_size')}
            rules={[
              {
                type: 'integer',
                min: 100,
                max: 1000,
                message: t('make.between', { least: 100, most: 1000 }),
              },
            ]}
          >
            <InputNumber placeholder="500" />
          </Form.Item>
        )}
        <Form.Item name="key" label={t('make.reading.key')} extra={t('make.reading.key_hint')}>
          <Select
            aria-label={t('make.reading.key')}
            mode="tags"
            open={false}
            suffixIcon={null}
            tokenSeparators={[',']}
            placeholder="id"
          />
        </Form.Item>
        <Form.Item name="on_duplicates" label={t('make.reading.on_duplicates')}>
          <Select
            aria-label={t('make.reading.on_duplicates')}
            allowClear
            placeholder={t('make.usual')}
            options={(['fail', 'warn'] as const).map((value) => ({
              value,
              label: t(`make.reading.duplicates.${value}`),
            }))}
          />
        </Form.Item>
        <Form.Item name="priority" label={t('make.reading.priority')}>
          <Select
            aria-label={t('make.reading.priority')}
            allowClear
            placeholder={t('make.usual')}
            options={(['interactive', 'scheduled'] as const).map((value) => ({
              value,
              label: t(`make.reading.priorities.${value}`),
            }))}
          />
        </Form.Item>
      </div>
      <span className="make-label">{t('make.reading.parameters')}</span>
      <p className="make-hint">{t('make.reading.parameters_hint', { place: '{{name}}' })}</p>
      <RowList
        name={['parameters']}
        add={t('make.reading.add_parameter')}
        remove={t('make.reading.parameter')}
      >
        {({ name }) => (
          <>
            <Form.Item name={[name, 'name']} noStyle>
              <Input aria-label={t('make.reading.parameter_name')} placeholder="region" />
            </Form.Item>
            <Form.Item name={[name, 'value']} noStyle>
              <Input aria-label={t('make.reading.parameter_value')} placeholder="north" />
            </Form.Item>
          </>
        )}
      </RowList>
    </Fold>
  )
}
