import { useTranslation } from 'react-i18next'
import type { TargetCounts } from '../../../api/transfers.ts'
import { useFormat } from '../../../parts/text/format.ts'

const PARTS = ['success', 'downloading', 'absent', 'failed', 'timeout'] as const

/** How a delivery's targets stand, as one bar and in words. */
export function TargetBar({ targets }: { targets: TargetCounts }) {
  const { t } = useTranslation()
  const format = useFormat()
  const parts = PARTS.filter((part) => targets[part] > 0)
  return (
    <div className="transfers-bar">
      <div className="transfers-bar-line" aria-hidden="true">
        {parts.map((part) => (
          <span key={part} data-part={part} style={{ flexGrow: targets[part] }} />
        ))}
      </div>
      <span className="transfers-sub">
        {parts.length === 0
          ? t('transfers.targets', { count: targets.total, targets: format.number(targets.total) })
          : parts
              .map((part) => t(`transfers.count.${part}`, { count: format.number(targets[part]) }))
              .join(' · ')}
      </span>
    </div>
  )
}
