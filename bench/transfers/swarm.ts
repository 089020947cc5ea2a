import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bar, printTable } from '../report.ts'
import { compareWithSimulation } from './simulated.ts'
import { runAria2 } from './swarm/aria2.ts'
import { type Carried, type CarriedByWharf, swarmBars, undisturbedSeconds } from './swarm/bars.ts'
import { runFanOut } from './swarm/fan-out.ts'
import { type Network, openNetwork } from './swarm/network.ts'
import { type Fault, runWharf } from './swarm/wharf.ts'

export interface SwarmBenchOptions {
  counts: number[]
  megabits: number
  mebibytes: number
  contestants: string[]
  faults: string[]
}

const MIB = 1024 * 1024
const MEMORY_DISK = '/dev/shm'
/** Fan-out has no pipeline to fill, so its time grows with the file exactly: a part of it is enough to know the rest. */
const FAN_OUT_PART = 8

/** One file to many agents: the swarm with TLS beside plain HTTP and aria2, with and without faults. */
export async function benchSwarm(options: SwarmBenchOptions): Promise<Bar[]> {
  const { counts, megabits, mebibytes } = options
  // In memory: sixteen agents on one machine share one disk, which sixteen hosts would not.
  const folder = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'wharf-bench-'))
  const bars: Bar[] = []
  const undisturbed = new Map<number, number>()
  let shaped = true
  try {
    for (const agents of counts) {
      const network = openNetwork(agents + 1, megabits)
      shaped = network.kind === 'namespaces'
      try {
        const carried = await contest(network, { folder, agents }, options)
        print(carried, agents, shaped ? `${megabits} Mbit/s each way` : 'loopback', mebibytes)
        bars.push(...swarmBars(carried, agents))
        const seconds = undisturbedSeconds(carried)
        if (seconds !== undefined) undisturbed.set(agents, seconds)
      } finally {
        network.remove()
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (shaped)
    bars.push(...compareWithSimulation(undisturbed, { bytes: mebibytes * MIB, line: megabits * 1e6 }))
  return bars
}

async function contest(
  network: Network,
  { folder, agents }: { folder: string; agents: number },
  { megabits, mebibytes, contestants, faults }: SwarmBenchOptions,
): Promise<(Carried | CarriedByWharf)[]> {
  const size = mebibytes * MIB
  const file = join(folder, 'file.bin')
  const common = { folder, file, size, agents }
  const carried: (Carried | CarriedByWharf)[] = []
  const make = (bytes: number) => writeFileSync(file, randomBytes(bytes))
  if (contestants.includes('http')) {
    make(size / FAN_OUT_PART)
    const part = await runFanOut(network, { ...common, size: size / FAN_OUT_PART })
    carried.push({ name: 'HTTP fan-out', seconds: part.seconds * FAN_OUT_PART, lineRatio: part.lineRatio })
  }
  make(size)
  if (contestants.includes('aria2')) carried.push({ name: 'aria2', ...(await runAria2(network, common)) })
  if (!contestants.includes('wharf')) return carried
  const lineLimitMs = (size * 8) / megabits / 1e3
  for (const [fault, position] of placed(faults, agents)) {
    const options = { ...common, megabits, fault, position, faultAfterMs: lineLimitMs / 4 }
    const measured = await runWharf(network, options)
    const again = carried.some((one) => 'fault' in one) ? 'wharf, again' : 'wharf'
    const name = fault === 'none' ? again : `wharf, agent ${position} ${fault}`
    carried.push({ name, fault, ...measured })
    console.error(`transfers: ${agents} agents, ${name}: done`)
  }
  return carried
}

/**
 * Where in the chain a fault sits: the middle, and for a slow agent, which is found by other means there, the ends. The
 * undisturbed run comes first and last, and the better one counts: a neighbour's busy moment must not flatter the rest.
 */
function placed(faults: readonly string[], agents: number): [Fault, number][] {
  const middle = Math.ceil(agents / 2)
  const all: [Fault, number][] = [
    ['none', middle],
    ['killed', middle],
    ['frozen', middle],
    ['lying', middle],
    ['slow', 1],
    ['slow', middle],
    ['slow', agents],
    ['none', middle],
  ]
  return all.filter(([fault]) => faults.includes(fault))
}

function print(carried: (Carried | CarriedByWharf)[], agents: number, line: string, mebibytes: number): void {
  const own = (one: Carried | CarriedByWharf) => ('fault' in one ? one : undefined)
  printTable(
    [`${agents} agents, ${mebibytes} MiB, ${line}`, 'seconds', 'egress x', 'written x', 'MB', 'core s'],
    carried.map((one) => [
      one.name,
      one.seconds,
      one.lineRatio,
      own(one)?.sentRatio,
      own(one)?.agentMegabytes,
      own(one)?.coreSeconds,
    ]),
  )
  if (carried.some(({ name }) => name === 'HTTP fan-out'))
    console.log(
      `HTTP fan-out: 1/${FAN_OUT_PART} of the file was sent, the time is ${FAN_OUT_PART} times that`,
    )
}
