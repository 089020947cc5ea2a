import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { messageOf } from '../../kernel/index.ts'
import {
  CONNECTIONS_PER_INSTANCE,
  inspectPostgres,
  inspectSqlite,
  type LedgerFacts,
} from '../../ledger/index.ts'
import { opensSecrets } from '../../tenancy/index.ts'
import { type Finding, fail, inWords, isAtLeast, ok, warn } from './finding.ts'

const OLDEST_POSTGRES = '13'
/** Leases, tickets and links go by the ledger's clock; logs and Retry-After by the machine's. */
const SKEW_WARN_MS = 1_000
const SKEW_FAIL_MS = 30_000
const BACKUP_OLD_MS = 2 * 86_400_000

/** The ledger as it is, or undefined with the reason when there is none to look at. */
export async function readLedger(config: Config): Promise<{ facts?: LedgerFacts; findings: Finding[] }> {
  const { DATABASE_URL: url, WHARF_DATA_DIR: dataDir } = config
  const leaseMs = config.WHARF_LEASE_SECONDS * 1_000
  const file = join(dataDir, 'ledger.db')
  if (url === null && !existsSync(file))
    return {
      findings: [
        warn('ledger', `there is no ledger in ${dataDir} yet; the first start makes one`, 'ledger_none', {
          folder: dataDir,
        }),
      ],
    }
  try {
    const facts = await (url === null ? inspectSqlite(file, { leaseMs }) : inspectPostgres(url, { leaseMs }))
    return { facts, findings: [] }
  } catch (error) {
    const where = url === null ? file : `PostgreSQL at ${new URL(url).host}`
    const setting = url === null ? 'WHARF_DATA_DIR' : 'DATABASE_URL'
    const values = { where, reason: messageOf(error), setting }
    const message = `${where} cannot be read (${values.reason}); check ${setting}`
    return { findings: [fail('ledger', message, 'ledger_unreadable', values)] }
  }
}

export function checkLedger(config: Config, facts: LedgerFacts): Finding[] {
  const isPostgres = config.DATABASE_URL !== null
  const name = `${isPostgres ? 'PostgreSQL' : 'SQLite'} ${facts.version}`
  const findings: Finding[] = []
  if (isPostgres && !isAtLeast(facts.version, OLDEST_POSTGRES))
    findings.push(
      fail('ledger', `${name} is too old; Wharf needs ${OLDEST_POSTGRES} or newer`, 'postgres_old', {
        name,
        oldest: OLDEST_POSTGRES,
      }),
    )
  findings.push(schemaFinding(name, facts), ...connectionFindings(config, facts))
  if (!opensSecrets(facts.seals, config.WHARF_SEAL_KEY))
    findings.push(
      fail(
        'settings',
        'WHARF_SEAL_KEY is not the key that the secrets in this ledger were sealed with: no server would start with it',
      ),
    )
  for (const setting of facts.unsafe)
    findings.push(
      warn(
        'ledger',
        `${setting} is off: a crash of PostgreSQL can lose what was accepted`,
        'ledger_not_durable',
        { setting },
      ),
    )
  return findings
}

function schemaFinding(name: string, { schema, knownSchema, instances }: LedgerFacts): Finding {
  if (schema === null)
    return warn('ledger', `${name} answers and is empty; the first start makes its tables`, 'ledger_empty', {
      name,
    })
  const versus = { name, schema, known: knownSchema }
  if (schema > knownSchema)
    return fail(
      'ledger',
      `${name} has schema ${schema}, this Wharf knows ${knownSchema}: start the newer one`,
      'ledger_too_new',
      versus,
    )
  if (schema < knownSchema)
    return warn(
      'ledger',
      `${name} has schema ${schema}; the next start brings it to ${knownSchema}`,
      'ledger_too_old',
      versus,
    )
  const versions = [...new Set(instances.map(({ version }) => version))]
  const living = instances.length === 1 ? '1 living instance' : `${instances.length} living instances`
  const of = versions.length === 0 ? '' : `, version ${versions.join(' and ')}`
  return ok('ledger', `${name}, schema ${schema}, ${living}${of}`, 'ledger', {
    name,
    schema,
    count: instances.length,
    versions: versions.join(', ') || '–',
  })
}

/** Each instance may open this many, so what they may want together must fit, with what others use. */
function connectionFindings({ redisUrl }: Config, { connections, instances }: LedgerFacts): Finding[] {
  if (!connections) return []
  const count = Math.max(1, instances.length)
  const wanted = count * CONNECTIONS_PER_INSTANCE + (redisUrl === null ? 1 : 0)
  const { most, used } = connections
  const text = `${count} × ${CONNECTIONS_PER_INSTANCE} connections may be wanted, PostgreSQL allows ${most} (${used} in use)`
  const values = { wanted, most, used }
  if (wanted > most)
    return [
      fail('ledger', `${text}: raise max_connections or run fewer instances`, 'connections_few', values),
    ]
  if (wanted + CONNECTIONS_PER_INSTANCE > most)
    return [
      warn(
        'ledger',
        `${text}: another instance does not fit; raise max_connections before`,
        'connections_tight',
        values,
      ),
    ]
  return [ok('ledger', text, 'connections', values)]
}

export function checkClock(what: string, aheadMs: number | null): Finding[] {
  if (aheadMs === null) return []
  const off = Math.abs(aheadMs)
  const text = `the clock of ${what} is ${inWords(off)} ${aheadMs >= 0 ? 'ahead of' : 'behind'} this machine's`
  const kind = aheadMs >= 0 ? 'clock_ahead' : 'clock_behind'
  const values = { what: what === 'Redis' ? 'Redis' : 'ledger', off_ms: off }
  const advice = `${text}; run a time service (NTP) on both`
  if (off >= SKEW_FAIL_MS) return [fail('clock', advice, kind, values)]
  if (off >= SKEW_WARN_MS) return [warn('clock', advice, kind, values)]
  return [ok('clock', `the clock of ${what} agrees with this machine's (${off} ms)`, 'clock_agrees', values)]
}

export function checkBackup({ lastBackup, schema }: LedgerFacts, now: number): Finding[] {
  if (schema === null) return []
  if (lastBackup === null)
    return [warn('backup', "there was no back-up yet; 'wharf backup DIR' makes one", 'backup_none')]
  const at = /^\d+$/.test(lastBackup) ? Number(lastBackup) : Date.parse(lastBackup)
  if (!Number.isFinite(at))
    return [
      warn('backup', `the time of the last back-up is unreadable: ${lastBackup}`, 'backup_unreadable', {
        time: lastBackup,
      }),
    ]
  const age_ms = Math.max(0, now - at)
  const said = age_ms > BACKUP_OLD_MS ? warn : ok
  return [said('backup', `the last back-up is ${inWords(age_ms)} old`, 'backup_age', { age_ms })]
}
