// The server's side of the benchmark, in a process (and, where possible, a network namespace) of its own.
// argv: host, folder, agents, file. Prints one JSON line when it listens, one when all agents are there, one a run.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LedgerSwarmStore, SwarmCarrier } from '../../../src/carriers/swarm/coordinator/index.ts'
import { AgentIdentities } from '../../../src/carriers/swarm/identity/agent-identities.ts'
import { SwarmAuthority } from '../../../src/carriers/swarm/identity/authority.ts'
import { InProcessBus } from '../../../src/jobs/index.ts'
import { createLog, systemClock } from '../../../src/kernel/index.ts'
import { migrate } from '../../../src/ledger/index.ts'
import { openSqliteLedger } from '../../../src/ledger/sqlite/open-sqlite.ts'

const [host = '', folder = '', count = '', file = ''] = process.argv.slice(2)
const ledger = openSqliteLedger(folder, systemClock)
await migrate(ledger)
const engine = new SwarmCarrier(
  {
    store: new LedgerSwarmStore(ledger),
    authority: new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock)),
    bus: new InProcessBus(),
    instance: 'bench',
    identities: new AgentIdentities(ledger),
    clock: systemClock,
    log: createLog({ level: process.env.WHARF_LOG_LEVEL ?? 'silent', destination: process.stderr }),
  },
  { host, absentMs: 10_000 },
)
await engine.open()
const http = createServer()
http.on('upgrade', engine.upgrade)
const tokens: string[] = []
for (let at = 1; at <= Number(count); at++) {
  const name = { agentId: `agent-${at}`, containerId: '' }
  tokens.push((await ledger.transaction((tx) => engine.invite(tx, name))).token)
}
http.listen(0, host, () => say({ port: (http.address() as AddressInfo).port, tokens }))

const { signal } = new AbortController()
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
while ((await engine.agents()).length < Number(count)) await pause(20)
say({ ready: true })

for await (const line of createInterface({ input: process.stdin })) {
  const { roots, name, patience } = JSON.parse(line) as { roots: string[]; name: string; patience: string[] }
  const content = readFileSync(file)
  const order = {
    projectId: 'p1',
    localPath: file,
    fileName: name,
    size: content.length,
    signature: createHash('sha256').update(content).digest('hex'),
    targets: roots.map((directory, at) => ({
      agentId: `agent-${at + 1}`,
      containerId: '',
      user: '',
      directory: join(directory, 'in'),
    })),
    timeoutSeconds: 300,
  }
  const before = engine.egress
  const started = performance.now()
  const { engineTaskId } = await engine.start(order, signal)
  say({ started: true })
  const ended = new Map<string, { seconds: number; code: number }>()
  for (;;) {
    const { targets } = await engine.result(engineTaskId, signal)
    for (const { agentId, errorCode } of targets)
      if (errorCode !== 115 && !ended.has(agentId))
        ended.set(agentId, { seconds: (performance.now() - started) / 1000, code: errorCode })
    // The one with the fault is not waited for.
    if (targets.every(({ agentId }) => ended.has(agentId) || patience.includes(agentId))) break
    await pause(20)
  }
  const { pieces, control } = engine.egress
  say({ ended: Object.fromEntries(ended), sent: pieces - before.pieces + control - before.control })
  await engine.terminate(engineTaskId, order.targets, signal)
}
process.exit(0)

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}
