import type { SignedOrder } from './order.ts'
import type { PeerId } from './peer-id.ts'

/** Where an agent answers the server: one WebSocket, opened by the agent. */
export const AGENT_SOCKET_PATH = '/ws/agent'

/** How often a busy agent tells how far it is. */
export const REPORT_MS = 250
/** How often the server knocks; who is silent for three knocks is gone. */
export const KNOCK_MS = 5_000

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
      agent_id: string
      container_id: string
      /** SPKI, PEM: the server certifies it. */
      public_key: string
      /** Where other agents reach this one; null: as the server sees it. */
      host: string | null
      port: number
      version: string
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

export type ToAgent =
  | {
      type: 'welcome'
      certificate: string
      authority: string
      /** SPKI, PEM: what tickets and orders are checked with. */
      verify_key: string
      now: number
    }
  | ({ type: 'job'; task: string } & SignedOrder)
  | { type: 'assign'; task: string; parent: PeerAddress; ticket: string }
  | { type: 'probe'; task: string; probe: number; parent: PeerAddress; ticket: string; piece: number }
  | { type: 'end'; task: string }
