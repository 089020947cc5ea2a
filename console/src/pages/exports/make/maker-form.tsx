import { Alert, Button, Form } from 'antd'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearch } from 'wouter'
import { curlOf } from '../../../api/export-drafts.ts'
import { showFirstWrong } from '../../../parts/dialog/show-first-wrong.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { Panel } from '../../../parts/page/panel.tsx'
import { ProblemNote } from '../../../parts/page/problem-note.tsx'
import { copyText } from '../../../parts/text/copy-text.ts'
import { sourceHint } from '../source-hint.ts'
import { ColumnsPanel } from './columns-panel.tsx'
import { FileSection } from './file-section.tsx'
import type { DraftFields } from './request/draft-fields.ts'
import './make.css'
import { writeRequest } from './request/to-request.ts'
import { SaveDialog } from './save-dialog.tsx'
import { SourceSection } from './source-section.tsx'
import { useMaker } from './use-maker.ts'
import type { Start } from './use-start.ts'

/** The form is longer than a screen, and its buttons stay in view: what the server refuses must be, too. */
const reveal = (place: HTMLElement | null) => place?.scrollIntoView({ block: 'center' })

export function MakerForm({ start, onStartOver }: { start: Start; onStartOver(): void }) {
  const { t } = useTranslation()
  const toasts = useToasts()
  const maker = useMaker(start)
  const [saving, setSaving] = useState(new URLSearchParams(useSearch()).has('save'))
  const copyCurl = () =>
    void copyText(curlOf(writeRequest(maker.request()), window.location.origin)).then(
      () => toasts.success(t('make.curl_copied')),
      toasts.problem,
    )
  return (
    <div ref={maker.root}>
      {start.restored && (
        <Alert
          className="make-note"
          type="info"
          showIcon
          title={t('make.restored')}
          action={
            <Button size="small" onClick={onStartOver}>
              {t('make.start_over')}
            </Button>
          }
        />
      )}
      <Form<DraftFields>
        form={maker.form}
        layout="vertical"
        initialValues={start.fields}
        requiredMark={false}
        onFinish={maker.send}
        onFinishFailed={showFirstWrong}
        onValuesChange={maker.changed}
      >
        <Panel>
          <div className="make">
            <SourceSection />
            <FileSection />
          </div>
        </Panel>
        <ColumnsPanel maker={maker} />
        {maker.error && (
          <div ref={reveal} className="make-problem">
            <ProblemNote error={maker.error} next={sourceHint(t, maker.error)} />
          </div>
        )}
        <div className="make-actions">
          <Button type="text" onClick={copyCurl}>
            {t('make.copy_curl')}
          </Button>
          <span className="make-space" />
          <Button onClick={maker.look} loading={maker.isLooking}>
            {t('make.preview')}
          </Button>
          <Button
            type={start.saved ? 'primary' : 'default'}
            onClick={() => maker.whenRight(() => setSaving(true))}
          >
            {start.saved ? t('make.save_changes') : t('make.save')}
          </Button>
          <Button type={start.saved ? 'default' : 'primary'} htmlType="submit" loading={maker.isSending}>
            {t('make.send')}
          </Button>
        </div>
      </Form>
      {saving && <SaveDialog maker={maker} onClose={() => setSaving(false)} />}
    </div>
  )
}
