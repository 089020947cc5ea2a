import { useTranslation } from 'react-i18next'
import type { TransferStatus } from '../../api/transfers.ts'
import { Pill, type Tone } from '../../parts/table/pill.tsx'

const TONES: Record<TransferStatus, Tone> = {
  Pending: 'wait',
  Running: 'busy',
  Success: 'ok',
  Failed: 'bad',
  Timeout: 'warn',
}

export function StatusPill({ status }: { status: TransferStatus }) {
  const { t } = useTranslation()
  return <Pill tone={TONES[status]}>{t(`transfers.status.${status}`)}</Pill>
}
