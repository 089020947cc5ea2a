import type { KeyObject } from 'node:crypto'
import type { PeerId } from './peer-id.ts'
import { isSigned, signText } from './signed.ts'

/** Permission for one child to take one file from one parent. Knowing an address or a hash lets nobody in. */
export interface PeerTicket {
  task: string
  sha256: string
  parent: PeerId
  child: PeerId
  /** Milliseconds since 1970, by the server's clock. */
  expiresAt: number
}

export function issueTicket(key: KeyObject, ticket: PeerTicket): string {
  const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  return `${payload}.${signText(key, 'ticket', payload)}`
}

/** The ticket's content, or undefined when the server did not sign exactly this or its time is over. */
export function openTicket(key: KeyObject, text: string, now: number): PeerTicket | undefined {
  const [payload, signature] = text.split('.')
  if (!payload || !signature || !isSigned(key, 'ticket', payload, signature)) return undefined
  const ticket = JSON.parse(Buffer.from(payload, 'base64url').toString()) as PeerTicket
  return now < ticket.expiresAt ? ticket : undefined
}
