import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandCounter, total } from '../command-counter.ts'
import { checkBars, printTable } from '../report.ts'
import { startServices } from '../services.ts'
import { StatementCounter } from '../statement-counter.ts'
import { WharfServer } from '../wharf-server.ts'

export const description =
  'commands that `wharf serve` sends to PostgreSQL and Redis while it has nothing to do'

const SIZES = [1, 2]
/** Longer than what a start sets off. */
const SETTLE_MS = 30_000
/** At least two periods of every background duty of a minute or less. */
const SECONDS = 120

export async function run(args: readonly string[]): Promise<boolean> {
  const rates: { instances: number; database: number; redis: number }[] = []
  for (const instances of SIZES) rates.push({ instances, ...(await measure(instances, args)) })
  printTable(
    ['instances', 'SQL/s', 'Redis/s', 'sum', 'sum per instance'],
    rates.map(({ instances, database, redis }) => [
      instances,
      database,
      redis,
      database + redis,
      (database + redis) / instances,
    ]),
  )
  const [alone, two] = rates.map(({ instances, database, redis }) => (database + redis) / instances)
  return checkBars([
    { what: 'per instance, of two', value: two, atMost: 0.5, unit: 'commands/s' },
    { what: 'one instance, which leads', value: alone, atMost: 0.5, unit: 'commands/s' },
  ])
}

async function measure(instances: number, args: readonly string[]) {
  const services = await startServices()
  const shared = mkdtempSync(join(tmpdir(), 'wharf-bench-idle-'))
  const database = await services.createDatabase()
  const statements = new StatementCounter(services.adminUrl, database.name)
  const commands = new CommandCounter(services.redisUrl)
  const servers: WharfServer[] = []
  const settings = { DATABASE_URL: database.url, REDIS_URL: services.redisUrl, WHARF_SHARED_DIR: shared }
  try {
    for (let started = 0; started < instances; started++) servers.push(await WharfServer.start(settings))
    await sleep(SETTLE_MS)
    await statements.open()
    await commands.open()
    await statements.mark()
    await commands.mark()
    await sleep(SECONDS * 1_000)
    const sent = { statements: await statements.sinceMark(), commands: await commands.sinceMark() }
    if (args.includes('--statements')) {
      const lines = sent.statements.map(({ calls, text }) => [calls, text.replace(/\s+/g, ' ').slice(0, 110)])
      printTable(
        ['calls', 'what'],
        [...lines, ...[...sent.commands].map(([name, calls]) => [calls, `redis: ${name}`])],
      )
    }
    const calls = sent.statements.reduce((sum, statement) => sum + statement.calls, 0)
    return { database: calls / SECONDS, redis: total(sent.commands) / SECONDS }
  } finally {
    for (const server of servers) await server.stop()
    await statements.close()
    commands.close()
    await services.stop()
    rmSync(shared, { recursive: true, force: true })
  }
}
