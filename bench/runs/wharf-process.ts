// One run of Wharf, embedded, as a process of its own: `node wharf-process.ts FOLDER FEED_URL CONNECTIONS`. It prints
// how long the run took, what it counted, and how much memory it had at most.
import { join } from 'node:path'
import { Engine, openBackend } from '../../src/engine/index.ts'
import { createLog, systemClock } from '../../src/kernel/index.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY } from '../../src/net/index.ts'
import { Runs } from '../../src/runs/index.ts'

// As `wharf serve` does.
process.env.UV_THREADPOOL_SIZE ??= '16'

const [folder = '', url = '', connections = ''] = process.argv.slice(2)
const log = createLog({ level: 'error' })
const clock = systemClock
const backend = await openBackend(
  { dataDir: folder, databaseUrl: null, redisUrl: null, redisPrefix: 'bench' },
  clock,
  log,
)
const net = new HttpClient({ guard: new AddressGuard(LOOPBACK_ONLY), clock }, { connectionsPerOrigin: 64 })
const engine = new Engine({ ...backend, clock, log }, { version: 'bench', sole: true })
const options = { folder: join(folder, 'accounts'), connections: Number(connections), alone: true }
const runs = new Runs({ engine, net, clock, log }, options)
await engine.start()

await engine.ledger.transaction((tx) => runs.putAccount(tx, 'bench', url, {}))
const begun = performance.now()
const { runId } = await engine.ledger.transaction((tx) => runs.start(tx, 'bench', 'start'))
let most = 0
const stop = new AbortController()
for await (const events of engine.feed.follow(0, { taskId: runId }, stop.signal)) {
  most = Math.max(most, process.memoryUsage.rss())
  if (events.some(({ data }) => data.state === 'Done' || data.state === 'Failed')) stop.abort()
}
const seconds = (performance.now() - begun) / 1000
const { progress, error } = await runs.run(runId)
const cpu = process.cpuUsage()
console.log(JSON.stringify({ seconds, progress, error, most, cpu: (cpu.user + cpu.system) / 1e6 }))
await engine.stop()
await net.close()
await backend.close()
process.exit(0)
