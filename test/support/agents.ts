import type { ChildProcess } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { OwnIdentity } from '../../src/carriers/swarm/agent/agent-state.ts'
import { type AgentOptions, openIdentity } from '../../src/carriers/swarm/agent/index.ts'
import {
  AGENT_SOCKET_PATH,
  makePass,
  newNonce,
  signAs,
  type ToAgent,
} from '../../src/carriers/swarm/wire/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { silentLog } from './backends.ts'
import { boundFolder, spawnBound } from './bound-process.ts'
import { ADMIN_TOKEN } from './http.ts'
import { countUnforeseenOf } from './no-unforeseen.ts'
import { limitSignal } from './until.ts'

const MAIN = fileURLToPath(new URL('../../bin/wharf.mjs', import.meta.url))
const LYING_AGENT = fileURLToPath(new URL('./lying-agent.ts', import.meta.url))

export const OWN_NAME = userInfo().username

/** A token for an agent, as an admin gets it. */
export async function inviteAgent(
  server: string,
  id: string,
  { container = '', adminToken = ADMIN_TOKEN }: { container?: string; adminToken?: string } = {},
): Promise<string> {
  const answer = await fetch(`${server}/api/agents/enrollments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: id, container_id: container }),
  })
  if (answer.status !== 201) throw new Error(`no token for ${id}: ${await answer.text()}`)
  return ((await answer.json()) as { token: string }).token
}

/** Enrols an agent; its state goes with the process that runs the tests. */
export async function enroll(
  server: string,
  { id, container = '', token }: { id: string; container?: string; token: string },
): Promise<OwnIdentity> {
  return openIdentity(
    { clock: systemClock, log: silentLog },
    { server, agentId: id, containerId: container, state: stateFolder(), token },
    limitSignal(),
  )
}

export function stateFolder(): string {
  return boundFolder('wharf-agent-state-')
}

export function optionsOf(
  server: string,
  { id, container = '', root }: { id: string; container?: string; root: string },
  identity: OwnIdentity,
): AgentOptions {
  return {
    server,
    identity,
    agentId: id,
    containerId: container,
    roots: [root],
    allow: { projects: ['*'], users: [OWN_NAME] },
    version: 'test',
    listenHost: '127.0.0.1',
  }
}

/** Options of an agent that was enrolled with a server of the whole Wharf. */
export async function agentOptions(
  server: string,
  id: string,
  root: string,
  { container = '', adminToken }: { container?: string; adminToken?: string } = {},
): Promise<AgentOptions> {
  const token = await inviteAgent(server, id, { container, ...(adminToken && { adminToken }) })
  return optionsOf(server, { id, container, root }, await enroll(server, { id, container, token }))
}

export interface AgentProcess {
  args?: string[]
  lying?: boolean
}

/** `wharf agent` as a process; the token only the first time. */
export function spawnAgent(
  server: string,
  { id, root, state, token }: { id: string; root: string; state: string; token?: string | undefined },
  { args = [], lying = false }: AgentProcess = {},
): ChildProcess {
  const command = ['agent', '--server', server, '--id', id, '--root', root, '--state', state]
  const allow = ['--allow-project', '*', '--allow-user', OWN_NAME, '--listen', '127.0.0.1:0']
  const enroll = token === undefined ? [] : ['--enroll', token]
  const child = spawnBound(
    process.execPath,
    [lying ? LYING_AGENT : MAIN, ...command, ...allow, ...enroll, ...args],
    {
      env: { PATH: process.env.PATH ?? '', WHARF_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'error' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  countUnforeseenOf(child)
  return child
}

/** A line like an agent's, on which the test says what it likes. */
export async function agentLine(
  server: string,
  { id, container = '', identity }: { id: string; container?: string; identity: OwnIdentity },
  { hello = {} }: { hello?: Record<string, unknown> } = {},
) {
  const key = createPrivateKey(identity.key)
  const socket = new WebSocket(`${server.replace(/^http/, 'ws')}${AGENT_SOCKET_PATH}`, {
    headers: { authorization: `Bearer ${makePass(key, { agentId: id, containerId: container })}` },
  })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => undefined)
  const heard: ToAgent[] = []
  const closed = once(socket, 'close').then(([code, reason]) => ({
    code: code as number,
    reason: String(reason),
  }))
  const challenged = once(socket, 'message')
  const [data] = await challenged
  socket.on('message', (text) => heard.push(JSON.parse(String(text)) as ToAgent))
  const { nonce: challenge } = JSON.parse(String(data)) as { nonce: string }
  const nonce = newNonce()
  const signature = signAs(key, 'hello', [challenge, nonce, null, 1])
  const send = (message: unknown) => socket.send(JSON.stringify(message))
  const answered = once(socket, 'message')
  answered.catch(() => undefined)
  send({ type: 'hello', nonce, signature, host: null, port: 1, version: 'test', ...hello })
  return { socket, send, heard, closed, challenge, answered, key }
}
