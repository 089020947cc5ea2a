import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { enroll, inviteAgent, agentLine as openAgentLine } from './agents.ts'
import { ExportClient } from './export-client.ts'
import { Front, portOf } from './front.ts'
import { ADMIN_TOKEN, type Ask, newProject } from './http.ts'
import { until } from './until.ts'
import { serveWharf, temporaryFolder } from './wharf-process.ts'

/** A server process that can be stopped and started again on the same data, behind an address that stays. */
export async function startStoppable(env: Record<string, string> = {}) {
  const dataDir = temporaryFolder()
  const front = await Front.open()
  onTestFinished(() => front.close())
  const start = async () => {
    const started = await serveWharf({
      WHARF_DATA_DIR: dataDir,
      WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
      WHARF_RATE_LIMIT: '10000/s',
      COLLECT_WINDOW_SECONDS: '1',
      ...env,
    })
    front.to = portOf(started.address)
    return started
  }
  let server = await start()
  const ask = (method: string, path: string, { key = ADMIN_TOKEN, body, headers = {} }: Ask = {}) =>
    fetch(`${server.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    front: front.url,
    dataDir,
    ask,
    client: new ExportClient(ask, await newProject({ ask })),
    address: () => server.address,
    grpcAddress: () => server.grpcAddress,
    output: () => server.output,
    /** Sends SIGTERM and resolves once the server says that it is not ready any more. */
    async terminate() {
      server.child.kill('SIGTERM')
      const at = performance.now()
      const { exited } = server
      return { ended: exited.then((exit) => ({ ...exit, ms: performance.now() - at })) }
    },
    async startAgain() {
      server = await start()
    },
  }
}

/** Every job in the ledger of a server that has ended. */
export async function jobsIn(dataDir: string) {
  const ledger = openSqliteLedger(dataDir, systemClock)
  try {
    return await ledger.db
      .selectFrom('jobs')
      .select(['kind', 'state', 'attempts', 'crashes'])
      .orderBy('created_at')
      .execute()
  } finally {
    await ledger.close()
  }
}

/** A command for processing that waits for as long as a file exists. */
export function heldCommand() {
  const folder = temporaryFolder()
  const [script, held, begun] = [join(folder, 'run.sh'), join(folder, 'held'), join(folder, 'begun')]
  mkdirSync(begun)
  writeFileSync(held, '')
  writeFileSync(
    script,
    `#!/bin/sh\ntouch ${begun}/$$\nwhile [ -e ${held} ]; do sleep 0.05; done\ncp "$1" "$2"\n`,
  )
  chmodSync(script, 0o755)
  return { command: `${script} {input} {output}`, held, begun }
}

/** A connection that sends this and then neither reads nor writes. */
export async function stalled(address: string, text = '') {
  const { hostname, port } = new URL(address)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  if (text !== '') socket.write(text)
  return socket
}

/** A line like an agent's, whose end can be seen. */
export async function agentLine(address: string, id: string) {
  const identity = await enroll(address, { id, token: await inviteAgent(address, id) })
  const line = await openAgentLine(address, { id, identity })
  await line.answered
  return line
}

export function untilConnected(ask: (method: string, path: string) => Promise<Response>, ids: string[]) {
  return until(`${ids.join(', ')} are connected`, async () => {
    const agents = (await (await ask('GET', '/api/agents')).json()) as {
      agent_id: string
      connected: boolean
    }[]
    return ids.every((id) => agents.some(({ agent_id, connected }) => connected && agent_id === id))
  })
}
