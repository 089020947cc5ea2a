import type { Bar } from '../../report.ts'
import type { Fault, Measured } from './wharf.ts'

/** How one contestant did. */
export interface Carried {
  name: string
  seconds: number
  /** Bytes by the server's line, headers included, as parts of the file. */
  lineRatio: number | undefined
}

export interface CarriedByWharf extends Carried, Measured {
  fault: Fault
}

const MOST_MEGABYTES = 110
const SLOWER_BY = { killed: 1.2, frozen: 1.2, lying: 1.2, slow: 1.4 }

/** The better of the runs without a fault. */
export function undisturbedSeconds(carried: readonly (Carried | CarriedByWharf)[]): number | undefined {
  const times = carried.flatMap((one) => ('fault' in one && one.fault === 'none' ? [one.seconds] : []))
  return times.length > 0 ? Math.min(...times) : undefined
}

export function swarmBars(carried: readonly (Carried | CarriedByWharf)[], agents: number): Bar[] {
  const by = (name: string) => carried.find((one) => one.name === name)?.seconds
  const undisturbed = undisturbedSeconds(carried)
  const bars: Bar[] = []
  const add = (what: string, value: number | undefined, atMost: number, unit: string) =>
    bars.push({ what: `${agents} agents, ${what}`, value, atMost, unit })
  for (const one of carried) {
    if (!('fault' in one)) continue
    const { name, fault, seconds, sentRatio, agentMegabytes, failed } = one
    add(`${name}: targets without their file`, failed, 0, '')
    add(`${name}: server egress`, sentRatio, fault === 'none' ? 1.05 : 1.1, 'x the file')
    add(`${name}: resident`, agentMegabytes, MOST_MEGABYTES, 'MB per agent')
    if (fault !== 'none' && undisturbed !== undefined)
      add(`${name}: time`, seconds / undisturbed, SLOWER_BY[fault], 'x undisturbed')
  }
  const [http, aria2] = [by('HTTP fan-out'), by('aria2')]
  if (agents < 16 || undisturbed === undefined) return bars
  if (http !== undefined) add('wharf: time', undisturbed / http, 1 / 12, 'x HTTP fan-out')
  if (aria2 !== undefined) add('wharf: time', undisturbed / aria2, 1 / 1.8, 'x aria2')
  return bars
}
