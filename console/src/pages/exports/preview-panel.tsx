import { useTranslation } from 'react-i18next'
import { useFormat } from '../../parts/format.ts'
import { Panel } from '../../parts/panel.tsx'
import { Sheet } from './sheet.tsx'
import type { Draft } from './use-draft.ts'

/** The first rows and the header as they will be; one sheet a table. */
export function PreviewPanel({ draft: { shown } }: { draft: Draft }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!shown.data) return null
  return shown.data.tables.map((table) => (
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
      <Sheet preview={table} plain={shown.data.type !== 'excel'} />
    </Panel>
  ))
}
