import { useTranslation } from 'react-i18next'
import type { ExportStatus, ExportTask } from '../../api/exports.ts'
import { Pill, type Tone } from '../../parts/table/pill.tsx'

const TONES: Record<ExportStatus, Tone> = {
  pending: 'wait',
  processing: 'busy',
  succeeded: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
}

/** Its status; while it is at work, the stage says more. */
export function StatusPill({ task: { status, stage } }: { task: ExportTask }) {
  const { t } = useTranslation()
  const words = status === 'processing' ? t(`exports.stage.${stage}`) : t(`exports.status.${status}`)
  return <Pill tone={TONES[status]}>{words}</Pill>
}
