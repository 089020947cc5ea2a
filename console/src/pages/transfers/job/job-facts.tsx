import { useTranslation } from 'react-i18next'
import type { TransferJob } from '../../../api/transfers.ts'
import { useFormat } from '../../../parts/text/format.ts'

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
      <Places places={job.places} />
      <p className="transfers-signature">
        {t('transfers.job.signature')} <code>{job.file_signature}</code>
      </p>
    </>
  )
}

const MOST_PLACES = 5

/** Where the file goes and whose it is there. */
function Places({ places }: { places: TransferJob['places'] }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <dl className="transfers-places">
      {places.slice(0, MOST_PLACES).map(({ directory, user, targets }) => (
        <div key={JSON.stringify([directory, user])}>
          <dt>{t('transfers.job.place')}</dt>
          <dd>
            <code>{directory}</code>{' '}
            {user === '' ? t('transfers.job.owner_agent') : t('transfers.job.owner', { user })}
            {places.length > 1 &&
              ` · ${t('transfers.targets', { count: targets, targets: format.number(targets) })}`}
          </dd>
        </div>
      ))}
      {places.length > MOST_PLACES && (
        <div>{t('transfers.job.more_places', { count: places.length - MOST_PLACES })}</div>
      )}
    </dl>
  )
}
