import { Form, Input, Segmented } from 'antd'
import { useTranslation } from 'react-i18next'
import type { ExportType } from '../../../api/export-drafts.ts'
import { CsvFields } from './fields/csv-fields.tsx'
import { DatedInput } from './fields/date-words.tsx'
import { KeepFields } from './fields/keep-fields.tsx'
import { LookFields } from './fields/look-fields.tsx'
import { TellFields } from './fields/tell-fields.tsx'

const TYPES: readonly ExportType[] = ['excel', 'csv', 'jsonl', 'parquet']

/** What the file is, and everything that may be left as it is. */
export function FileSection() {
  const { t } = useTranslation()
  const form = Form.useFormInstance()
  const type = Form.useWatch('type', { form, preserve: true }) as ExportType | undefined
  const kind = Form.useWatch('kind', { form, preserve: true })
  return (
    <section aria-labelledby="make-file">
      <h2 id="make-file">{t('make.file.heading')}</h2>
      <Form.Item name="type" className="make-kinds">
        <Segmented
          aria-label={t('make.file.type')}
          options={TYPES.map((value) => ({
            value,
            label: t(`exports.type.${value}`),
            disabled: kind === 'sheets' && value !== 'excel',
          }))}
        />
      </Form.Item>
      <p className="make-hint">{t(`make.file.types.${type ?? 'excel'}`)}</p>
      <Form.Item name="file_name" label={t('make.file.name')}>
        <DatedInput field={['file_name']} placeholder={t('make.file.name_hint')} />
      </Form.Item>
      {type === 'excel' && (
        <Form.Item name="title" label={t('make.file.title')}>
          <DatedInput field={['title']} />
        </Form.Item>
      )}
      <Form.Item name="operator_id" label={t('make.file.operator')} extra={t('make.file.operator_hint')}>
        <Input />
      </Form.Item>
      {type === 'excel' && <LookFields />}
      {(type === 'csv' || type === 'jsonl') && <CsvFields isCsv={type === 'csv'} />}
      <TellFields />
      <KeepFields />
    </section>
  )
}
