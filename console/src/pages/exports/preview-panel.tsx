import { Alert, Button } from 'antd'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../parts/format.ts'
import { Panel } from '../../parts/panel.tsx'
import { ColumnTable } from './report-panel.tsx'
import { Sheet } from './sheet.tsx'
import type { Draft } from './use-draft.ts'

/** The file of the first rows, one sheet per table, with what there is to say of it. */
export function PreviewPanel({ draft: { shown, takeOwnTemplate } }: { draft: Draft }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!shown.data) return null
  const { tables, warnings } = shown.data
  const overruled = tables.some(({ template_overruled }) => template_overruled)
  return (
    <>
      {overruled && (
        <Alert
          type="warning"
          showIcon
          title={t('exports.preview.overruled')}
          action={<Button onClick={takeOwnTemplate}>{t('exports.preview.use_mine')}</Button>}
        />
      )}
      {(overruled ? [] : warnings).map((warning) => (
        <Alert key={warning} type="warning" showIcon title={warning} />
      ))}
      {tables.map((table) => (
        <Panel
          key={table.name}
          title={t('exports.preview.title')}
          extra={
            table.total !== null && (
              <span className="quiet">
                {t('exports.preview.total', { count: table.total, total: format.number(table.total) })}
              </span>
            )
          }
        >
          <Sheet preview={table} />
          {table.report.columns.length > 0 && (
            <details className="sheet-report">
              <summary>{t('exports.preview.report')}</summary>
              <ColumnTable table={table.report} named={false} />
            </details>
          )}
        </Panel>
      ))}
    </>
  )
}
