import { useTranslation } from 'react-i18next'
import type { SavedRun } from '../../../api/saved.ts'
import { Pill } from '../../../parts/table/pill.tsx'

const TONES = {
  pending: 'wait',
  processing: 'busy',
  succeeded: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
} as const

export function RunPill({ run: { status } }: { run: Pick<SavedRun, 'status'> }) {
  const { t } = useTranslation()
  return <Pill tone={TONES[status]}>{t(`exports.status.${status}`)}</Pill>
}
