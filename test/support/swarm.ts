import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { TransferResult } from '../../src/carriers/index.ts'
import type { OwnIdentity } from '../../src/carriers/swarm/agent/agent-state.ts'
import { Agent, type AgentOptions } from '../../src/carriers/swarm/agent/index.ts'
import { LedgerSwarmStore, SwarmCarrier } from '../../src/carriers/swarm/coordinator/index.ts'
import type {
  SwarmCarrierDeps,
  SwarmCarrierOptions,
} from '../../src/carriers/swarm/coordinator/swarm-carrier.ts'
import { AgentIdentities } from '../../src/carriers/swarm/identity/agent-identities.ts'
import { SwarmAuthority } from '../../src/carriers/swarm/identity/authority.ts'
import { type Bus, InProcessBus } from '../../src/jobs/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { type AgentProcess, enroll, optionsOf, spawnAgent, stateFolder } from './agents.ts'
import { type Backend, type BackendName, openBackend, silentLog } from './backends.ts'
import { Front } from './front.ts'
import { until } from './until.ts'

/** A swarm on a fresh ledger: a server whose engine can be stopped and started again, agents, files. */
export async function setupSwarm(name: BackendName = 'embedded') {
  const backend = await openBackend(name)
  const folder = mkdtempSync(join(tmpdir(), 'wharf-swarm-'))
  const keys = SwarmAuthority.make(systemClock)
  const front = await Front.open()
  const closers: (() => Promise<unknown>)[] = [() => front.close()]
  onTestFinished(async () => {
    for (const close of closers.reverse()) await close()
    await backend.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  let latest: Awaited<ReturnType<typeof openServer>>
  const invite = async (id: string, container = '') => {
    const name = { agentId: id, containerId: container }
    return (await latest.ledger.transaction((tx) => latest.engine.invite(tx, name))).token
  }
  /** An agent that comes back is the one that it was. */
  const identities = new Map<string, OwnIdentity>()
  const states = new Map<string, string>()
  const identityOf = async (server: { url: string }, id: string, container = '') => {
    const key = JSON.stringify([id, container])
    const known = identities.get(key)
    if (known) return known
    const identity = await enroll(server.url, { id, container, token: await invite(id, container) })
    identities.set(key, identity)
    return identity
  }
  return {
    backend,
    folder,
    keys,
    invite,
    identityOf,
    /** The address of whichever server was opened last: agents find the next one where they left the one before. */
    front,
    /** What several servers in this process have in common; closed after them. */
    async ground(bus: Bus) {
      const ledger = await backend.openLedger()
      closers.push(async () => {
        await bus.close()
        await ledger.close()
      })
      return { ledger, bus }
    },
    async server(options: ServerOptions = {}) {
      const opened = await openServer(backend, keys, options)
      front.to = opened.port
      latest = opened
      closers.push(opened.close)
      return opened
    },
    async agent(server: { url: string }, id: string, options: Partial<AgentOptions> = {}) {
      const root = makeRoot(folder, id)
      const container = options.containerId ?? ''
      const identity = await identityOf(server, id, container)
      const agent = new Agent(
        { clock: systemClock, log: silentLog },
        { ...optionsOf(server.url, { id, container, root }, identity), ...options },
      )
      await agent.start()
      let stopped = false
      const stop = async () => {
        if (!stopped) await agent.stop()
        stopped = true
      }
      closers.push(stop)
      return { id, root, stop }
    },
    /** The same as a process of its own. */
    async agentProcess(server: { url: string }, id: string, options: AgentProcess = {}) {
      const root = makeRoot(folder, id)
      const token = states.has(id) ? undefined : await invite(id)
      const state = states.get(id) ?? stateFolder()
      states.set(id, state)
      const child = spawnAgent(server.url, { id, root, state, token }, options)
      const exited = once(child, 'exit')
      closers.push(async () => {
        child.kill('SIGCONT')
        child.kill('SIGKILL')
        await exited
      })
      return { id, root, child, exited }
    },
    file(bytes: number) {
      const content = randomBytes(bytes)
      const path = join(folder, `source-${randomBytes(4).toString('hex')}`)
      writeFileSync(path, content)
      return { path, size: bytes, signature: createHash('sha256').update(content).digest('hex') }
    },
  }
}

function makeRoot(folder: string, id: string): string {
  const root = join(folder, 'roots', id)
  mkdirSync(root, { recursive: true })
  return root
}

type ServerOptions = Partial<
  Omit<SwarmCarrierOptions, 'port'> &
    Pick<SwarmCarrierDeps, 'locate' | 'clock'> & {
      /** Ledger and bus that several servers in this process have in common. */
      ground: { ledger: Ledger; bus: Bus }
    }
>

async function openServer(
  backend: Backend,
  keys: string,
  { locate, clock = systemClock, ground, ...options }: ServerOptions,
) {
  const ledger = ground?.ledger ?? (await backend.openLedger())
  const bus = ground?.bus ?? (backend.shared ? await backend.openBus() : new InProcessBus())
  const engine = new SwarmCarrier(
    {
      store: new LedgerSwarmStore(ledger),
      authority: new SwarmAuthority(systemClock, keys),
      bus,
      instance: randomBytes(6).toString('hex'),
      identities: new AgentIdentities(ledger),
      clock,
      log: silentLog,
      ...(locate && { locate }),
    },
    { host: '127.0.0.1', ...options },
  )
  await engine.open()
  // An agent asks before it shows its token.
  const http = createServer((_request, response) =>
    response.end(JSON.stringify({ status: 'ready', ledger: 'sqlite' })),
  )
  http.on('upgrade', engine.upgrade)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address() as AddressInfo
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    http.closeAllConnections()
    await engine.close()
    await new Promise((resolve) => http.close(resolve))
    if (ground) return
    await bus.close()
    await ledger.close()
  }
  return { engine, ledger, bus, url: `http://127.0.0.1:${address.port}`, port: address.port, close }
}

export function targetsFor(agents: { id: string; root: string }[]) {
  return agents.map(({ id, root }) => ({
    agentId: id,
    containerId: '',
    user: '',
    directory: join(root, 'in'),
  }))
}

/** Resolves when every target has ended, one way or the other. */
export async function untilOver(engine: SwarmCarrier, engineTaskId: string): Promise<TransferResult> {
  const { signal } = new AbortController()
  return until(
    'every target has ended',
    () => engine.result(engineTaskId, signal),
    ({ targets }) => targets.every(({ errorCode }) => errorCode !== 115),
  )
}

export async function untilConnected(engine: SwarmCarrier, count: number): Promise<void> {
  await until(
    `${count} agents are connected`,
    () => engine.agents(),
    ({ length }) => length >= count,
  )
}
