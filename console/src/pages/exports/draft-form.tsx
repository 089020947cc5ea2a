import { Button, Form, Input, Segmented } from 'antd'
import { Suspense, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { curlOf, type ExportDraft } from '../../api/export-drafts.ts'
import { copyText } from '../../parts/copy-text.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { showFirstWrong } from '../../parts/show-first-wrong.ts'
import { useToasts } from '../../parts/toasts.tsx'
import './draft-form.css'
import { lazyPart } from '../../live/lazy-part.ts'
import { keepDraft } from './kept-draft.ts'
import { MoreFields } from './more-fields.tsx'
import type { Draft } from './use-draft.ts'

const TemplateEditor = lazyPart(async () => (await import('./template-editor.tsx')).TemplateEditor)

export function DraftForm({ draft }: { draft: Draft }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const [form] = Form.useForm<ExportDraft>()
  const { of, first, template, setTemplate, templateFrom, shown, sent, refused, ready } = draft
  const filled = (): ExportDraft => ({ ...form.getFieldsValue(), template, template_from: templateFrom })
  const preview = () => form.validateFields().then(() => shown.mutate(filled()), showFirstWrong)
  // What was typed last is kept too: the template is no field of the form.
  useEffect(
    () => keepDraft(of, { ...form.getFieldsValue(), template, template_from: templateFrom }),
    [of, form, template, templateFrom],
  )
  const onChange = (changed: Partial<ExportDraft>) => {
    sent.reset()
    // Rows of another address are no preview of this one.
    if (changed.source_url !== undefined) shown.reset()
    keepDraft(of, filled())
  }
  const copyCurl = () =>
    void copyText(curlOf(filled(), window.location.origin)).then(
      () => toasts.success(t('exports.form.curl_copied')),
      toasts.problem,
    )
  const error = sent.error ?? shown.error
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={first}
      requiredMark={false}
      onFinish={() => sent.mutate(filled())}
      onFinishFailed={showFirstWrong}
      onValuesChange={onChange}
    >
      <div className="draft-form">
        <div>
          <Form.Item
            name="source_url"
            label={t('exports.form.source_url')}
            extra={t('exports.form.source_url_hint')}
            rules={[{ required: true, type: 'url', message: t('exports.form.source_url_missing') }]}
          >
            <Input autoFocus inputMode="url" placeholder="https://shop.example/api/orders" />
          </Form.Item>
          <Form.Item name="type" label={t('exports.form.type')}>
            <Segmented
              aria-label={t('exports.form.type')}
              options={(['excel', 'csv', 'jsonl', 'parquet'] as const).map((value) => ({
                value,
                label: t(`exports.type.${value}`),
              }))}
            />
          </Form.Item>
          <MoreFields />
        </div>
        <div>
          <span className="draft-form-label">{t('exports.form.template')}</span>
          <Suspense fallback={<div className="template-editor-place" />}>
            <TemplateEditor
              label={t('exports.form.template')}
              value={template}
              onChange={setTemplate}
              refused={refused}
            />
          </Suspense>
          <p className="draft-form-hint">{t('exports.form.template_hint')}</p>
        </div>
      </div>
      {error && <ProblemNote error={error} />}
      <div className="draft-form-buttons">
        <Button onClick={copyCurl}>{t('exports.form.copy_curl')}</Button>
        <Button onClick={preview} loading={shown.isPending} disabled={!ready}>
          {t('exports.form.preview')}
        </Button>
        <Button type="primary" htmlType="submit" loading={sent.isPending} disabled={!ready}>
          {t('exports.form.send')}
        </Button>
      </div>
    </Form>
  )
}
