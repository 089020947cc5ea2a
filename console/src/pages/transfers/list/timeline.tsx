import { Tooltip } from 'antd'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { TransferItem } from '../../../api/transfers.ts'
import { useFormat } from '../../../parts/text/format.ts'
import { jobAddress } from '../address.ts'
import { lanesOf } from './timeline-lanes.ts'
import { useNow } from './use-now.ts'

const SPAN_MS = 5 * 60_000
/** What is still to come of the open windows. */
const AHEAD_MS = 30_000
const MOST_LANES = 8
const TICK_MS = 60_000
/** From here on rows are drawn lower. */
const MANY_ROWS = 4

/** The last minutes: windows as they fill up, and the deliveries that come of them. A lane per file. */
export function Timeline({ jobs }: { jobs: readonly TransferItem[] }) {
  const { t, i18n } = useTranslation()
  const now = useNow(1_000)
  const from = now - SPAN_MS
  const until = now + AHEAD_MS
  const at = (time: number) => ((Math.min(until, Math.max(from, time)) - from) / (until - from)) * 100
  const lanes = lanesOf(
    jobs.filter((job) => endOf(job, now) > from),
    { most: MOST_LANES, endOf: (job) => endOf(job, now) },
  )
  const clock = new Intl.DateTimeFormat(i18n.language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const ticks = Array.from(
    { length: Math.floor((until - from) / TICK_MS) + 1 },
    (_, index) => Math.ceil(from / TICK_MS) * TICK_MS + index * TICK_MS,
  ).filter((tick) => tick < until)
  if (lanes.length === 0) return <p className="quiet">{t('transfers.timeline.empty')}</p>
  return (
    <div className="timeline">
      <div className="timeline-axis" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick} style={{ left: `${at(tick)}%` }}>
            {clock.format(tick)}
          </span>
        ))}
      </div>
      <ul className="timeline-lanes">
        <li className="timeline-now" aria-hidden="true" style={{ left: `${at(now)}%` }} />
        {lanes.map(({ path, rows }) => (
          <li key={path}>
            <span className="timeline-name" title={path}>
              {path}
            </span>
            <div className="timeline-rows" data-many={rows.length > MANY_ROWS}>
              {rows.map((row) => (
                <div key={row[0]?.job_id} className="timeline-row">
                  {row.map((job) => (
                    <Block key={job.job_id} job={job} now={now} at={at} />
                  ))}
                </div>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Block({ job, now, at }: { job: TransferItem; now: number; at(time: number): number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const opens = Date.parse(job.window_starts_at)
  const closes = Date.parse(job.window_ends_at)
  const left = at(opens)
  const width = Math.max(1, at(endOf(job, now)) - left)
  const count = format.number(job.targets.total)
  const seconds = Math.max(0, Math.ceil((closes - now) / 1_000))
  const words =
    job.status === 'Pending'
      ? t('transfers.timeline.collecting', { count: job.targets.total, targets: count, seconds })
      : t('transfers.timeline.block', {
          count: job.targets.total,
          targets: count,
          status: t(`transfers.status.${job.status}`),
        })
  const collected = job.status === 'Pending' ? 100 : Math.min(100, ((at(closes) - left) / width) * 100)
  return (
    <Tooltip title={`${job.file_name}: ${words}`}>
      <Link
        href={jobAddress(job.job_id)}
        className="timeline-block"
        data-status={job.status}
        style={{ left: `${left}%`, width: `${width}%` }}
        aria-label={`${job.file_name}: ${words}`}
      >
        <span className="timeline-collected" style={{ width: `${collected}%` }} />
        <b>{count}</b>
      </Link>
    </Tooltip>
  )
}

function endOf(job: TransferItem, now: number): number {
  if (job.status === 'Pending') return Date.parse(job.window_ends_at)
  return job.finished_at === null
    ? Math.max(now, Date.parse(job.window_ends_at))
    : Date.parse(job.finished_at)
}
