import { RelayPlan, SOURCE } from '../../src/carriers/swarm/coordinator/relay/relay-plan.ts'
import { BLOCK_BYTES } from '../../src/carriers/swarm/wire/manifest.ts'

export interface SimulationOptions {
  agents: number
  bytes: number
  /** Bits a second, each way, of every agent. */
  line: number
  /** Bits a second out of the server. */
  serverLine: number
  /** Most chains; the server's line can feed no more than it is times as fast as an agent's. */
  maxChains?: number
  /** Seconds a block needs at every hop besides its bytes: round trip, check, write. */
  hopSeconds?: number
  /** Seconds before the first byte and after the last: manifest, connections, fsync. */
  startSeconds?: number
}

export interface Simulated {
  seconds: number
  /** Of one agent alone on a free line. */
  lineLimit: number
  chains: number
  longest: number
  /** Copies of the file that leave the server. */
  egress: number
}

/** An assumption, not a measurement: a block is checked in 0.05 ms; the rest is the round trip and a busy agent. */
const HOP_SECONDS = 0.004
const START_SECONDS = 0.2
/** A packet's 1,448 bytes of the stream travel as 1,514 on the line. */
const WIRE_BYTES = 1514 / 1448
/** Shorter chains save less time than their copies of the file cost the server. */
const MIN_DEPTH = 50

/**
 * The relay plan as the server makes it, with blocks as the unit: a block leaves a parent when the one before it has
 * left and when it is there, and all children of one parent share its line. Exact for equal lines without faults.
 */
export function simulate(options: SimulationOptions): Simulated {
  const { agents, bytes, line, serverLine, maxChains = 20 } = options
  const { hopSeconds = HOP_SECONDS, startSeconds = START_SECONDS } = options
  const wanted = Math.max(1, Math.min(maxChains, Math.floor(serverLine / line)))
  const plan = new RelayPlan({ depth: Math.max(MIN_DEPTH, Math.ceil(agents / wanted)), maxChains: wanted })
  plan.addAll(Array.from({ length: agents }, (_, at) => `a${at}`))
  const { heads } = plan
  const blocks = Math.ceil(bytes / BLOCK_BYTES)
  const blockBits = BLOCK_BYTES * 8 * WIRE_BYTES
  const blockSeconds = blockBits / line
  const fromServer = Math.max(blockSeconds, (blockBits * heads.length) / serverLine)
  const longest = Math.max(...chainLengths(plan))
  // When each block is whole at the agent in question, along the longest chain.
  let arrived = Float64Array.from({ length: blocks }, (_, block) => (block + 1) * fromServer + hopSeconds)
  for (let hop = 1; hop < longest; hop++) {
    let free = 0
    arrived = arrived.map((at) => {
      free = Math.max(free, at) + blockSeconds
      return free + hopSeconds
    })
  }
  return {
    seconds: startSeconds + (arrived[blocks - 1] ?? 0),
    lineLimit: (bytes * 8) / line,
    chains: heads.length,
    longest,
    egress: heads.length,
  }
}

function chainLengths(plan: RelayPlan): number[] {
  const lengths = new Map<string, number>()
  for (const id of plan.relays) {
    const parent = plan.parentOf(id)
    lengths.set(id, parent === SOURCE ? 1 : (lengths.get(parent) ?? 0) + 1)
  }
  return [...lengths.values()]
}
