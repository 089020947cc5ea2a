import { Form, Input, Segmented } from 'antd'
import { useTranslation } from 'react-i18next'
import { session } from '../../../api/session.ts'
import { useStore } from '../../../store.ts'
import { AccessFields } from './fields/access-fields.tsx'
import { DatedInput } from './fields/date-words.tsx'
import { HttpFields } from './fields/http-fields.tsx'
import { ReadingFields } from './fields/reading-fields.tsx'
import { SheetFields } from './fields/sheet-fields.tsx'
import { SqlFields } from './fields/sql-fields.tsx'
import type { SourceKind } from './request/draft-fields.ts'

const KINDS: readonly SourceKind[] = ['address', 'http', 'sql', 'sheets']

/** Where the rows come from. */
export function SourceSection() {
  const { t } = useTranslation()
  const isAdmin = useStore(session)?.role === 'admin'
  const form = Form.useFormInstance()
  const kind = (Form.useWatch('kind', { form, preserve: true }) as SourceKind | undefined) ?? 'address'
  const kinds = isAdmin ? [...KINDS, 'audit' as const] : KINDS
  return (
    <section aria-labelledby="make-source">
      <h2 id="make-source">{t('make.source.title')}</h2>
      <Form.Item name="kind" className="make-kinds">
        <Segmented
          aria-label={t('make.source.title')}
          options={kinds.map((value) => ({ value, label: t(`make.source.kind.${value}`) }))}
        />
      </Form.Item>
      <p className="make-hint">{t(`make.source.text.${kind}`)}</p>
      {kind === 'address' && (
        <Form.Item
          name="source_url"
          label={t('make.source.url')}
          rules={[{ required: true, pattern: /^\s*https?:\/\/\S+/i, message: t('make.source.url_missing') }]}
        >
          <DatedInput
            field={['source_url']}
            autoFocus
            inputMode="url"
            placeholder="https://shop.example/api/orders"
          />
        </Form.Item>
      )}
      {kind === 'http' && <HttpFields />}
      {kind === 'sql' && <SqlFields />}
      {kind === 'sheets' && <SheetFields />}
      {kind === 'audit' && (
        <div className="make-pair">
          <Form.Item name={['audit', 'actor']} label={t('make.audit.actor')}>
            <Input />
          </Form.Item>
          <Form.Item name={['audit', 'action']} label={t('make.audit.action')}>
            <Input placeholder="export.downloaded" />
          </Form.Item>
        </div>
      )}
      {(kind === 'address' || kind === 'http' || kind === 'sheets') && <AccessFields kind={kind} />}
      <ReadingFields />
    </section>
  )
}
