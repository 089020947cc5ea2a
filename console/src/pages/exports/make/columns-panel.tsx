import { Alert, Button, Form, Segmented, Select } from 'antd'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SheetPreview } from '../../../api/export-drafts.ts'
import { warningsOf } from '../../../api/export-texts.ts'
import { lazyPart } from '../../../live/lazy-part.ts'
import { Panel } from '../../../parts/page/panel.tsx'
import { FailureText } from '../../../parts/text/failure.tsx'
import { useFormat } from '../../../parts/text/format.ts'
import { TemplateBuilder } from '../builder/template-builder.tsx'
import { ColumnTable } from '../detail/report-panel.tsx'
import { Sheet } from '../sheet/sheet.tsx'
import { useWarningText } from '../warning-text.ts'
import type { SheetField } from './request/draft-fields.ts'
import { TemplateShelf } from './template-shelf.tsx'
import type { Maker, Target } from './use-maker.ts'

const TemplateEditor = lazyPart(async () => (await import('../sheet/template-editor.tsx')).TemplateEditor)

/** Which columns the file has, by form or as JSON, beside the sheet as it will look. */
export function ColumnsPanel({ maker }: { maker: Maker }) {
  const { t } = useTranslation()
  const format = useFormat()
  const warningText = useWarningText()
  const [view, setView] = useState<'form' | 'json'>('form')
  const [table, setTable] = useState(0)
  const tables = maker.preview?.tables ?? []
  // A template that is not used has an alert of its own, with the way out.
  const warnings = (maker.preview ? warningsOf(maker.preview) : []).filter(
    ({ code }) => code !== 'TEMPLATE_OVERRULED',
  )
  const chosen = typeof maker.target === 'number' ? maker.target : table
  const shown = tables[chosen] ?? tables[0]
  const sheet = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (maker.looks > 0) sheet.current?.scrollIntoView({ block: 'start' })
  }, [maker.looks])
  // What the server has against the template is marked in its text.
  const isRefused = maker.refused !== null && maker.refused.text === maker.template
  return (
    <Panel
      title={t('make.columns.title')}
      extra={
        <Segmented
          aria-label={t('make.columns.view')}
          value={view}
          onChange={setView}
          options={[
            { value: 'form', label: t('make.columns.form') },
            { value: 'json', label: 'JSON' },
          ]}
        />
      }
    >
      <div className="make-columns">
        <div className="make-columns-edit" data-field="template">
          <TargetChoice maker={maker} />
          <TemplateShelf projectId={maker.projectId} text={maker.template} onChange={maker.setTemplate} />
          {isRefused && view === 'form' && (
            <Alert
              className="make-note"
              type="error"
              showIcon
              title={maker.refused && <FailureText error={maker.refused.problem} />}
              action={
                <Button size="small" onClick={() => setView('json')}>
                  {t('make.columns.show_place')}
                </Button>
              }
            />
          )}
          {view === 'form' ? (
            <TemplateBuilder
              key={maker.target}
              text={maker.template}
              onChange={maker.setTemplate}
              seen={shown}
              onLook={maker.look}
              isLooking={maker.isLooking}
              onJson={() => setView('json')}
            />
          ) : (
            <>
              <Suspense fallback={<div className="make-editor-place" />}>
                <TemplateEditor
                  label={t('make.columns.json')}
                  value={maker.template}
                  onChange={maker.setTemplate}
                  refused={maker.refused}
                />
              </Suspense>
              <p className="make-hint">{t('make.columns.json_hint')}</p>
            </>
          )}
        </div>
        <div className="make-columns-sheet" aria-busy={maker.isLooking} ref={sheet}>
          <p role="status" className="visually-hidden">
            {shown && !maker.isLooking && t('exports.preview.ready', { count: shown.rows.length })}
          </p>
          {warnings.map((warning) => (
            <Alert
              key={warning.message}
              className="make-note"
              type="warning"
              showIcon
              title={warningText(warning)}
            />
          ))}
          {shown?.template_overruled && (
            <Alert
              className="make-note"
              type="warning"
              showIcon
              title={t('exports.preview.overruled')}
              action={<Button onClick={maker.useOwnTemplate}>{t('exports.preview.use_mine')}</Button>}
            />
          )}
          {tables.length > 1 && (
            <Segmented
              aria-label={t('make.columns.sheet')}
              value={chosen}
              onChange={setTable}
              options={tables.map(({ name }, index) => ({ value: index, label: name }))}
            />
          )}
          {shown ? (
            <>
              <p className="make-hint">
                {t('exports.preview.title')}
                {shown.total !== null &&
                  ` · ${t('exports.preview.total', { count: shown.total, total: format.number(shown.total) })}`}
                {hasTotals(shown) &&
                  (shown.total === null || shown.total > shown.rows.length) &&
                  ` · ${t('exports.preview.totals_of', { count: shown.rows.length })}`}
              </p>
              <Sheet preview={shown} />
              {shown.report.columns.length > 0 && (
                <details className="sheet-report">
                  <summary>{t('exports.preview.report')}</summary>
                  <ColumnTable table={shown.report} named={false} />
                </details>
              )}
            </>
          ) : (
            <div className="make-no-sheet">
              <p>{t('make.columns.no_preview')}</p>
              <Button onClick={maker.look} loading={maker.isLooking}>
                {t('make.columns.look')}
              </Button>
            </div>
          )}
        </div>
      </div>
    </Panel>
  )
}

/** Only totals are formulas. */
function hasTotals({ data }: SheetPreview): boolean {
  return data.some(({ cells }) => cells.some(({ formula }) => formula !== undefined))
}

/** In a workbook of several sheets: whose columns these are. */
function TargetChoice({ maker }: { maker: Maker }) {
  const { t } = useTranslation()
  const { form } = maker
  const kind = Form.useWatch('kind', { form, preserve: true })
  const sheets = (Form.useWatch('sheets', { form, preserve: true }) ?? []) as SheetField[]
  if (kind !== 'sheets' || sheets.length === 0) return null
  return (
    <Select<Target>
      className="make-target"
      aria-label={t('make.columns.of')}
      value={maker.target}
      onChange={maker.setTarget}
      options={[
        { value: 'all' as const, label: t('make.columns.of_all') },
        ...sheets.map((sheet, index) => ({
          value: index,
          label: t('make.columns.of_sheet', { name: sheet?.name || `${index + 1}` }),
        })),
      ]}
    />
  )
}
