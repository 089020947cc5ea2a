import { type Bar, printTable } from '../report.ts'
import { type SimulationOptions, simulate } from './simulation.ts'

const MIB = 1024 * 1024
const LINE = 100e6
const FLEETS: Pick<SimulationOptions, 'agents' | 'serverLine' | 'maxChains'>[] = [
  { agents: 1_000, serverLine: LINE },
  { agents: 1_000, serverLine: 10 * LINE },
  { agents: 1_000, serverLine: 20 * LINE },
  { agents: 10_000, serverLine: 20 * LINE },
  { agents: 10_000, serverLine: 100 * LINE, maxChains: 100 },
  { agents: 10_000, serverLine: 200 * LINE, maxChains: 200 },
]

/** What larger fleets than this machine can hold would take. */
export function benchSimulation(): Bar[] {
  const rows = FLEETS.map((fleet) => {
    const small = simulate({ ...fleet, bytes: 64 * MIB, line: LINE })
    const large = simulate({ ...fleet, bytes: 1024 * MIB, line: LINE })
    const { chains, longest, egress } = small
    const times = small.seconds / small.lineLimit
    return { ...fleet, chains, longest, egress, times, largeTimes: large.seconds / large.lineLimit }
  })
  printTable(
    ['simulated agents', 'server Mbit/s', 'chains', 'longest', '64 MiB, x line limit', '1 GiB', 'egress x'],
    rows.map(({ agents, serverLine, chains, longest, times, largeTimes, egress }) => [
      String(agents),
      serverLine / 1e6,
      chains,
      longest,
      times,
      largeTimes,
      egress,
    ]),
  )
  const thousand = rows.find(({ agents, serverLine }) => agents === 1_000 && serverLine === 10 * LINE)
  return [
    { what: 'simulated 1,000 agents', value: thousand?.times, atMost: 2, unit: 'x the line limit' },
    { what: 'simulated 1,000 agents, egress', value: thousand?.egress, atMost: 20, unit: 'x the file' },
  ]
}

/** How far the simulation is from what was measured. */
export function compareWithSimulation(
  measured: ReadonlyMap<number, number>,
  { bytes, line }: { bytes: number; line: number },
): Bar[] {
  return [...measured].map(([agents, seconds]) => {
    const simulated = simulate({ agents, bytes, line, serverLine: line }).seconds
    return {
      what: `${agents} agents, measured ${seconds.toFixed(1)} s, simulated ${simulated.toFixed(1)} s: apart by`,
      value: Math.abs(seconds / simulated - 1),
      atMost: 0.15,
      unit: 'of it',
    }
  })
}
