import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { countAgents, getHealth, type Health } from '../../api/overview.ts'
import { ledgerAway } from '../../api/reachable.ts'
import { Panel } from '../../parts/page/panel.tsx'
import { ProblemNote } from '../../parts/page/problem-note.tsx'
import { Pill, type Tone } from '../../parts/table/pill.tsx'
import { useFormat } from '../../parts/text/format.ts'
import { useStore } from '../../store.ts'

type Finding = Health['findings'][number]

const TONES: Record<Finding['level'] | 'unknown', Tone> = {
  ok: 'ok',
  warn: 'warn',
  fail: 'bad',
  unknown: 'quiet',
}
const LEVELS: readonly Finding['level'][] = ['fail', 'warn', 'ok']
/** The server itself looks no more often. */
const AGAIN_MS = 60_000
const AGENTS_AGAIN_MS = 10_000

/** The parts that Wharf stands on, what is wrong first. */
export function HealthPanel() {
  const { t } = useTranslation()
  const { data, error } = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => getHealth(signal),
    refetchInterval: AGAIN_MS,
  })
  const away = useStore(ledgerAway)
  const format = useFormat()
  const inWords = (values: Record<string, string | number>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (name.endsWith('_ms')) return [name.slice(0, -3), format.duration(Number(value))]
        if (name.endsWith('_bytes')) return [name.slice(0, -6), format.bytes(Number(value))]
        return [name, value]
      }),
    )
  const findings = [...(data?.findings ?? [])].sort(
    (a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level),
  )
  return (
    <Panel title={t('overview.health.title')}>
      {error && !away && <ProblemNote error={error} />}
      <ul className="overview-health">
        {(away || error !== null) && <Unread findings={findings} />}
        {!away &&
          error === null &&
          findings.map(({ check, level, message, kind, values = {} }) => (
            <li key={message}>
              <span className="overview-health-head">
                <b>{t(`overview.health.${check}`)}</b>
                <Pill tone={TONES[level]}>{t(`overview.health.level.${level}`)}</Pill>
              </span>
              <span className="overview-sub">
                {/* A server that is newer may say what this page has no sentence for. */}
                {kind
                  ? t(`overview.finding.${kind as 'disk'}`, { defaultValue: message, ...inWords(values) })
                  : message}
              </span>
            </li>
          ))}
        <Agents />
      </ul>
    </Panel>
  )
}

/** What was found before says nothing about now. */
function Unread({ findings }: { findings: readonly Finding[] }) {
  const { t } = useTranslation()
  const away = useStore(ledgerAway)
  const checks = [...new Set(findings.map(({ check }) => check))]
  const isAway = (check: Finding['check']) => away && check === 'ledger'
  return checks
    .sort((a, b) => Number(isAway(b)) - Number(isAway(a)))
    .map((check) => {
      const level = isAway(check) ? 'fail' : 'unknown'
      return (
        <li key={check}>
          <span className="overview-health-head">
            <b>{t(`overview.health.${check}`)}</b>
            <Pill tone={TONES[level]}>{t(`overview.health.level.${level}`)}</Pill>
          </span>
          <span className="overview-sub">
            {t(isAway(check) ? 'overview.health.away' : 'overview.health.unread')}
          </span>
        </li>
      )
    })
}

function Agents() {
  const { t } = useTranslation()
  const format = useFormat()
  const away = useStore(ledgerAway)
  const { data, error } = useQuery({
    queryKey: ['agent-counts'],
    queryFn: ({ signal }) => countAgents(signal),
    refetchInterval: AGENTS_AGAIN_MS,
  })
  if (!data) return null
  const { known, connected } = data
  const unread = away || error !== null
  const level = unread ? 'unknown' : connected < known ? 'warn' : 'ok'
  return (
    <li>
      <span className="overview-health-head">
        <b>
          <Link href="/transfers">{t('overview.health.agents')}</Link>
        </b>
        {known > 0 && <Pill tone={TONES[level]}>{t(`overview.health.level.${level}`)}</Pill>}
      </span>
      <span className="overview-sub">
        {unread
          ? t('overview.health.unread')
          : known === 0
            ? t('overview.health.no_agents')
            : t('overview.health.agents_text', {
                connected: format.number(connected),
                known: format.number(known),
              })}
      </span>
    </li>
  )
}
