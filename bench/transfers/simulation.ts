import { RelayPlan, SOURCE } from '../../src/transfers/engines/swarm/relay-plan.ts'
import { PIECE_BYTES } from '../../src/transfers/engines/swarm/wire/manifest.ts'

export interface SimulationOptions {
  agents: number
  bytes: number
  /** Bits a second, each way, of every agent. */
  line: number
  /** Bits a second out of the server. */
  serverLine: number
  depth: number
  maxChains: number
  /** Seconds a piece needs besides its bytes: round trip, check, write. */
  hopSeconds?: number
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

/** Between two agents on one machine, measured: TLS, SHA-256 and a write a piece. */
const HOP_SECONDS = 0.004

/**
 * The relay plan as the server makes it, with pieces as the unit: a piece leaves a parent when the one before it has
 * left and when it is there, and all children of one parent share its line. Exact for equal lines without faults.
 */
export function simulate(options: SimulationOptions): Simulated {
  const { agents, bytes, line, serverLine, depth, maxChains, hopSeconds = HOP_SECONDS } = options
  const plan = new RelayPlan({ depth, maxChains })
  plan.addAll(Array.from({ length: agents }, (_, at) => `a${at}`))
  const { heads } = plan
  const pieces = Math.ceil(bytes / PIECE_BYTES)
  const pieceSeconds = (PIECE_BYTES * 8) / line
  const fromServer = Math.max(pieceSeconds, (PIECE_BYTES * 8 * heads.length) / serverLine)
  const lengths = chainLengths(plan)
  const longest = Math.max(...lengths)
  // When each piece is whole at the agent in question, along the longest chain.
  let arrived = Float64Array.from({ length: pieces }, (_, piece) => (piece + 1) * fromServer + hopSeconds)
  for (let hop = 1; hop < longest; hop++) {
    let free = 0
    arrived = arrived.map((at) => {
      free = Math.max(free, at) + pieceSeconds
      return free + hopSeconds
    })
  }
  return {
    seconds: arrived[pieces - 1] ?? 0,
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
