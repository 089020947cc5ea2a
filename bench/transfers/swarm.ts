// One file to many agents: the swarm with TLS beside plain HTTP and aria2, with and without faults.
// Options: --agents=8,16  --megabits=100  --mebibytes=64  --only=wharf,http,aria2  --faults=none,killed,…  --quick
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulate } from './simulation.ts'
import { runAria2 } from './swarm/aria2.ts'
import { runFanOut } from './swarm/fan-out.ts'
import { openNetwork } from './swarm/network.ts'
import { type Fault, runWharf } from './swarm/wharf.ts'

export const description =
  'one file to many agents: the swarm beside HTTP fan-out and aria2, faults, simulation'

const MIB = 1024 * 1024
const MEMORY_DISK = '/dev/shm'
/** Fault and the place in the chain: 0 is the middle, -1 the last. */
const FAULTS: [Fault, number][] = [
  ['none', 0],
  ['killed', 0],
  ['frozen', 0],
  ['lying', 0],
  ['slow', 1],
  ['slow', 0],
  ['slow', -1],
]

export async function run(args: readonly string[]): Promise<boolean> {
  const value = (name: string, fallback: string) =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback
  const quick = args.includes('--quick')
  const counts = value('agents', quick ? '8' : '8,16')
    .split(',')
    .map(Number)
  const megabits = Number(value('megabits', '100'))
  const size = Number(value('mebibytes', quick ? '16' : '64')) * MIB
  const only = value('only', 'wharf,http,aria2').split(',')
  const faults = value('faults', quick ? 'none,killed' : 'none,killed,frozen,lying,slow').split(',')
  // In memory: sixteen agents on one machine share one disk, which sixteen hosts would not.
  const folder = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'wharf-bench-'))
  const file = join(folder, 'file.bin')
  writeFileSync(file, randomBytes(size))
  let passed = true
  try {
    for (const agents of counts) {
      const network = openNetwork(agents + 1, megabits)
      const lineLimit = (size * 8) / megabits / 1e6
      console.log(
        `\n${agents} agents, ${size / MIB} MiB, ${network.kind === 'namespaces' ? `${megabits} Mbit/s each way, line limit ${lineLimit.toFixed(1)} s` : 'loopback'}`,
      )
      try {
        const common = { folder, file, size, agents }
        const http = only.includes('http') ? await runFanOut(network, common) : undefined
        if (http) say('HTTP fan-out', http.seconds, http.lineRatio)
        const aria2 = only.includes('aria2') ? await runAria2(network, common) : undefined
        if (aria2) say('aria2', aria2.seconds, aria2.lineRatio)
        let undisturbed: number | undefined
        for (const [fault, place] of FAULTS.filter(([name]) => faults.includes(name))) {
          if (!only.includes('wharf')) break
          const position = place === 0 ? Math.ceil(agents / 2) : place < 0 ? agents : place
          const faultAfterMs = lineLimit * 250
          const got = await runWharf(network, { ...common, megabits, fault, position, faultAfterMs })
          const name = fault === 'none' ? 'wharf' : `wharf, agent ${position} ${fault}`
          say(
            name,
            got.seconds,
            got.lineRatio,
            `${got.sentRatio.toFixed(3)}x written, ${got.agentMegabytes.toFixed(0)} MB an agent, ${got.coreSeconds.toFixed(1)} core seconds`,
          )
          if (fault === 'none') undisturbed = got.seconds
          passed = bars(fault, got, { http, aria2, undisturbed, agents }) && got.failed === 0 && passed
        }
        if (undisturbed !== undefined && network.kind === 'namespaces') {
          const line = megabits * 1e6
          const expected = simulate({
            agents,
            bytes: size,
            line,
            serverLine: line,
            depth: 100,
            maxChains: 20,
          })
          console.log(`simulated ${expected.seconds.toFixed(1)} s, measured ${undisturbed.toFixed(1)} s`)
        }
      } finally {
        network.remove()
      }
    }
    return printSimulation() && passed
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Beside {
  http: { seconds: number } | undefined
  aria2: { seconds: number } | undefined
  undisturbed: number | undefined
  agents: number
}

function bars(fault: Fault, got: Awaited<ReturnType<typeof runWharf>>, beside: Beside): boolean {
  const { http, aria2, undisturbed, agents } = beside
  const checks: [string, number | undefined, number][] = [
    ['server egress', got.sentRatio, fault === 'none' ? 1.05 : 1.1],
    ['megabytes an agent', got.agentMegabytes, 110],
  ]
  if (fault === 'none' && agents >= 16) {
    checks.push(['time beside HTTP', http && got.seconds / http.seconds, 1 / 12])
    checks.push(['time beside aria2', aria2 && got.seconds / aria2.seconds, 1 / 1.8])
  }
  if (fault !== 'none')
    checks.push([
      'time beside undisturbed',
      undisturbed && got.seconds / undisturbed,
      fault === 'slow' ? 1.4 : 1.2,
    ])
  let passed = true
  for (const [what, value, atMost] of checks) {
    if (value === undefined) continue
    const good = value <= atMost
    passed &&= good
    console.log(`    ${good ? 'PASS' : 'FAIL'}  ${what}: ${value.toFixed(3)}, at most ${atMost.toFixed(3)}`)
  }
  return passed
}

function printSimulation(): boolean {
  const line = 100e6
  const rows = [
    { agents: 1_000, serverLine: 1_000e6, depth: 100, maxChains: 20 },
    { agents: 1_000, serverLine: 2_000e6, depth: 50, maxChains: 20 },
    { agents: 1_000, serverLine: 100e6, depth: 1_000, maxChains: 1 },
    { agents: 10_000, serverLine: 2_000e6, depth: 100, maxChains: 20 },
    { agents: 10_000, serverLine: 10_000e6, depth: 100, maxChains: 100 },
  ]
  console.log('\nsimulated, 64 MiB, agents at 100 Mbit/s each way:')
  let passed = true
  for (const row of rows) {
    const { seconds, lineLimit, chains, longest, egress } = simulate({ ...row, bytes: 64 * MIB, line })
    const times = seconds / lineLimit
    console.log(
      `  ${row.agents} agents, server ${row.serverLine / 1e6} Mbit/s: ${chains} chains of ${longest}, ${seconds.toFixed(1)} s = ${times.toFixed(2)}x the line limit, egress ${egress}x`,
    )
    if (row.agents === 1_000 && row.serverLine > line) passed &&= times <= 2 && egress <= 20
  }
  return passed
}

function say(name: string, seconds: number, lineRatio: number | undefined, more = ''): void {
  const out = lineRatio === undefined ? '' : `${lineRatio.toFixed(2)}x the file out of the server`
  console.log(`  ${name.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s  ${out}  ${more}`)
}

if (import.meta.main) process.exit((await run(process.argv.slice(2))) ? 0 : 1)
