import type { SignedOrder } from './order.ts'
import type { PeerId } from './peer-id.ts'

/** Where an agent answers the server: one WebSocket, opened by the agent. */
export const AGENT_SOCKET_PATH = '/ws/agent'

/** How often a busy agent reports its progress. */
export const REPORT_MS = 250
/** How often the server pings; an agent that is silent for three pings is gone. */
export const PING_MS = 5_000

export interface PeerAddress {
  id: PeerId
  /** null: the host that the agent already knows the server by. */
  host: string | null
  port: number
}

/** How one place ended; places are in the order of the job. */
export interface PlaceOutcome {
  code: number
  message: string
}

/** How far one child is, seen from its parent. */
export interface ChildState {
  id: PeerId
  /** Pieces that lie ready here and have not arrived there. */
  waiting: number
}

export interface TaskReport {
  task: string
  have: number
  parent: PeerId | null
  children: ChildState[]
}

export type FromAgent =
  | {
      type: 'hello'
      /** For the server to sign with its welcome. */
      nonce: string
      /** Over the server's challenge, the nonce, host and port: the agent is here, and now. */
      signature: string
      /** Where other agents reach this one; null: as the server sees it. */
      host: string | null
      port: number
      version: string
    }
  | {
      type: 'enroll'
      agent_id: string
      container_id: string
      /** SPKI, PEM: from now on this agent is who has the other half. */
      public_key: string
      /** Over the server's challenge. */
      signature: string
    }
  | { type: 'report'; tasks: TaskReport[] }
  /** `code` is 0 as soon as one place has the file; `places` is left out where all of them ended as `code` says. */
  | { type: 'done'; task: string; code: number; message: string; places?: PlaceOutcome[] }
  | {
      type: 'orphan'
      task: string
      parent: PeerId
      reason: 'lost' | 'refused' | 'bad_piece'
      message: string
    }
  | { type: 'probed'; task: string; probe: number; bytes: number; ms: number }

/** What may reach an agent from any instance, through the one that it is connected to. */
export type Carried =
  | ({ type: 'job'; task: string } & SignedOrder)
  | { type: 'assign'; task: string; parent: PeerAddress; ticket: string }
  | { type: 'probe'; task: string; probe: number; parent: PeerAddress; ticket: string; piece: number }
  | { type: 'end'; task: string }

/** All else comes from the instance itself. */
export type ToAgent =
  | Carried
  | { type: 'challenge'; nonce: string }
  | { type: 'enrolled'; authority: string; verify_key: string }
  | { type: 'refused'; message: string }
  | {
      type: 'welcome'
      certificate: string
      now: number
      /** Ids of keys whose certificates must not be believed. */
      revoked: string[]
      /** By the key that signs orders, over all of this and the agent's nonce. */
      signature: string
    }
  | { type: 'revoked'; keys: string[] }

export function isCarried({ type }: ToAgent): boolean {
  return type === 'job' || type === 'assign' || type === 'probe' || type === 'end'
}
