import { createPrivateKey } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { makePass } from '../../../src/carriers/swarm/wire/index.ts'
import { enroll, inviteAgent } from '../../support/agents.ts'
import { type BackendName, openBackend } from '../../support/backends.ts'
import { ExportClient } from '../../support/export-client.ts'
import { ADMIN_TOKEN, type Ask, newProject } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { serveWharf } from '../../support/wharf-process.ts'
import { holdable } from './furnish.ts'

/** What the server holds, after everything that can be let go of was. */
export interface Holdings {
  descriptors: number
  sockets: number
  timers: number
  megabytes: number
}

/** At a signal, the process tells what it holds. */
const TELL = `
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    const held = process.getActiveResourcesInfo()
    const count = (name) => held.filter((one) => one === name).length
    const told = { sockets: count('TCPSocketWrap'), timers: count('Timeout'), megabytes: (heapUsed + external) / 2 ** 20 }
    console.log('holds ' + JSON.stringify(told))
  })`

/** A server of its own with something of everything in it, and ways to see how it is. */
export async function startRudeServer(name: BackendName, env: Record<string, string> = {}) {
  const backend = await openBackend(name)
  onTestFinished(() => backend.remove())
  const commands = holdable('h')
  const server = await serveWharf({
    ...backend.env,
    NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(TELL)}"`,
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_RATE_LIMIT: '100000/s',
    WHARF_DRAIN_SECONDS: '1',
    PROCESSOR_COMMAND: commands.command,
    ...env,
  })
  const { address, grpcAddress, child, output, exited } = server
  const ask = (method: string, path: string, { key = ADMIN_TOKEN, body, headers = {} }: Ask = {}) =>
    fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const client = new ExportClient(ask, await newProject({ ask }))
  const identity = await enroll(address, { id: 'rude', token: await inviteAgent(address, 'rude') })

  const metrics = async () => {
    const answer = await Promise.race([fetch(`${address}/metrics`), exited])
    if (!(answer instanceof Response)) throw new Error(`the server has ended: ${output.out}${output.err}`)
    return answer.text()
  }

  let told = 0
  const holdings = async (): Promise<Holdings> => {
    child.kill('SIGUSR2')
    const lines = await until('the server tells what it holds', () => {
      const found = output.out.match(/^holds .*$/gm) ?? []
      return found.length > told && found
    })
    told = lines.length
    const descriptors = readdirSync(`/proc/${child.pid}/fd`).length
    return { ...JSON.parse((lines.at(-1) ?? '').slice('holds '.length)), descriptors }
  }

  return {
    address,
    grpc: `http://${grpcAddress}`,
    ask,
    client,
    commands,
    agent: { id: 'rude', identity },
    agentPass: makePass(createPrivateKey(identity.key), { agentId: 'rude', containerId: '' }),
    holdings,
    /** Answers, and nothing went wrong that nobody foresaw. */
    async isWell(): Promise<void> {
      const text = await metrics()
      const broken = output.out.split('\n').filter((line) => /"unforeseen":|"code":"INTERNAL"/.test(line))
      expect(broken).toEqual([])
      expect(text).toMatch(/^wharf_unforeseen_errors_total 0$/m)
    },
    said: (text: string) => output.out.includes(text),
    /** What its log calls an error. */
    errors: () => output.out.split('\n').filter((line) => /"level":[56]0/.test(line)),
    async stop() {
      child.kill('SIGTERM')
      expect(await exited).toEqual({ code: 0, signal: null })
    },
  }
}

export type RudeServer = Awaited<ReturnType<typeof startRudeServer>>
