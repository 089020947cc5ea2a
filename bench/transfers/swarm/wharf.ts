import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { coreSeconds, type Network, peakResident } from './network.ts'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const MAIN = path('../../../src/main.ts')
const LYING_AGENT = path('../../../test/support/lying-agent.ts')

export type Fault = 'none' | 'killed' | 'frozen' | 'lying' | 'slow'

export interface Measured {
  /** Until the last agent without a fault had its file under its name, on disk. */
  seconds: number
  /** Out of the server, as parts of the file: by the line with all headers, and by what was written to it. */
  lineRatio: number | undefined
  sentRatio: number
  agentMegabytes: number
  /** Of a core, for the transfer alone, all agents and the server together. */
  coreSeconds: number
  failed: number
}

export interface RunOptions {
  folder: string
  file: string
  size: number
  agents: number
  megabits: number
  fault: Fault
  /** Which agent has the fault, counted from 1 in the order of the chain. */
  position: number
  /** When it is killed or frozen, after the start. */
  faultAfterMs: number
}

/** One delivery by the relay with TLS, as processes. */
export async function runWharf(network: Network, options: RunOptions): Promise<Measured> {
  const { agents, fault, position } = options
  const folder = mkdtempSync(join(options.folder, 'wharf-'))
  const children: ChildProcess[] = []
  try {
    const stdio = ['pipe', 'pipe', 'inherit'] as const
    const host = network.address(0)
    const server = network.spawn(
      0,
      process.execPath,
      [path('./server-process.ts'), host, folder, String(agents), options.file],
      { stdio: [...stdio] },
    )
    children.push(server)
    const lines = createInterface({ input: server.stdout! })[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value ?? '{}') as Record<string, unknown>
    const { port, tokens } = (await next()) as { port: number; tokens: string[] }
    const roots = Array.from({ length: agents }, (_, at) => join(folder, `agent-${at + 1}`))
    const started = roots.map((root, at) => {
      mkdirSync(root)
      const lies = fault === 'lying' && at + 1 === position
      const own = ['--root', root, '--state', `${root}-state`, '--enroll', tokens[at] ?? '']
      const allow = ['--allow-project', '*', '--allow-user', userInfo().username]
      const command = ['agent', '--server', `http://${host}:${port}`, '--id', `agent-${at + 1}`]
      return network.spawn(
        at + 1,
        process.execPath,
        [lies ? LYING_AGENT : MAIN, ...command, ...own, ...allow],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
          env: { ...process.env, WHARF_LOG_LEVEL: 'silent' },
        },
      )
    })
    children.push(...started)
    await next()
    if (fault === 'slow') network.setRate(position, options.megabits / 10)
    const faulty = `agent-${position}`
    const sentBefore = network.sent(0)
    const usedBefore = [server, ...started].map(({ pid }) => coreSeconds(pid))
    const order = { roots, name: 'file.bin', patience: fault === 'none' || fault === 'lying' ? [] : [faulty] }
    server.stdin!.write(`${JSON.stringify(order)}\n`)
    await next()
    if (fault === 'killed' || fault === 'frozen') {
      await pause(options.faultAfterMs)
      started[position - 1]?.kill(fault === 'killed' ? 'SIGKILL' : 'SIGSTOP')
    }
    const { ended, sent } = (await next()) as {
      ended: Record<string, { seconds: number; code: number }>
      sent: number
    }
    const sentAfter = network.sent(0)
    const good = Object.entries(ended).filter(([agent]) => fault === 'none' || agent !== faulty)
    const used = [server, ...started].map((child, at) =>
      child.exitCode === null && child.signalCode === null
        ? coreSeconds(child.pid) - (usedBefore[at] ?? 0)
        : 0,
    )
    const alive = started.filter((child) => child.exitCode === null && child.signalCode === null)
    return {
      seconds: Math.max(...good.map(([, { seconds }]) => seconds)),
      lineRatio:
        sentBefore === undefined || sentAfter === undefined
          ? undefined
          : (sentAfter - sentBefore) / options.size,
      sentRatio: sent / options.size,
      agentMegabytes: Math.max(...alive.map(({ pid }) => peakResident(pid))),
      coreSeconds: used.reduce((sum, seconds) => sum + seconds, 0),
      failed: good.filter(([, { code }]) => code !== 0).length,
    }
  } finally {
    if (fault === 'slow') network.setRate(position, options.megabits)
    for (const child of children) {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    }
    await pause(100)
    rmSync(folder, { recursive: true, force: true })
  }
}
