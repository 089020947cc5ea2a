import { useTranslation } from 'react-i18next'
import type { TransferJob } from '../../api/transfers.ts'
import { useFormat } from '../../parts/format.ts'

export function JobFacts({ job }: { job: TransferJob }) {
  const { t } = useTranslation()
  const format = useFormat()
  const bytes = (value: number | null) => (value === null ? '–' : format.bytes(value))
  const moment = (iso: string | null) => (iso === null ? '–' : format.moment(iso))
  const facts = {
    size: bytes(job.file_size),
    delivered: bytes(job.delivered_bytes),
    sent: bytes(job.egress_bytes),
    window: moment(job.window_ends_at),
    finished: moment(job.finished_at),
    business: `${job.biz_id} / ${job.app_id}`,
  }
  return (
    <>
      <dl className="transfers-figures">
        {(Object.keys(facts) as (keyof typeof facts)[]).map((name) => (
          <div key={name} data-kind={name}>
            <dt>{t(`transfers.job.${name}`)}</dt>
            <dd>{facts[name]}</dd>
          </div>
        ))}
      </dl>
      <p className="transfers-signature">
        {t('transfers.job.signature')} <code>{job.file_signature}</code>
      </p>
    </>
  )
}
