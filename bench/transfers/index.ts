import { loadavg } from 'node:os'
import { type Bar, checkBars } from '../report.ts'
import { benchJoins } from './joins.ts'
import { benchSimulation } from './simulated.ts'
import { benchSwarm } from './swarm.ts'

export const description =
  'joins a second; one file to many agents beside HTTP and aria2, with faults; simulated fleets'

const CONTESTANTS = ['wharf', 'http', 'aria2']
const FAULTS = ['none', 'killed', 'frozen', 'lying', 'slow']

/**
 * `--only=` some of joins, simulation, wharf, http, aria2; for the swarm also `--agents=8,16`, `--megabits=100`,
 * `--mebibytes=64`, `--faults=` some of none, killed, frozen, lying, slow. All bars are ratios: where sixteen lines of
 * 100 Mbit/s are more than the cores can drive, a lower rate compares the same things.
 */
export async function run(args: readonly string[]): Promise<boolean> {
  const value = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  const list = (name: string, all: string[]) => value(name)?.split(',') ?? all
  const quick = args.includes('--quick')
  const only = list('only', ['joins', 'simulation', ...CONTESTANTS])
  const contestants = CONTESTANTS.filter((name) => only.includes(name))
  const bars: Bar[] = []
  if (only.includes('joins')) bars.push(...(await benchJoins({ quick })))
  if (contestants.length > 0) {
    const options = {
      counts: list('agents', quick ? ['8'] : ['8', '16']).map(Number),
      megabits: Number(value('megabits') ?? 100),
      mebibytes: Number(value('mebibytes') ?? (quick ? 32 : 64)),
      contestants,
      faults: list('faults', quick ? ['none', 'killed'] : FAULTS),
    }
    bars.push(...(await benchSwarm(options)))
  }
  if (only.includes('simulation')) bars.push(...benchSimulation())
  const passed = checkBars(bars)
  console.log(`load at the end: ${loadavg()[0]?.toFixed(1)}, these processes included`)
  return passed
}
