import { createHash, type KeyObject } from 'node:crypto'
import { Manifest } from './manifest.ts'
import type { PeerId } from './peer-id.ts'
import { isSigned, signText } from './signed.ts'

export interface Place {
  user: string
  directory: string
}

/** What one agent shall do with one file: signed as a whole, so that no part of it can be put into another order. */
export interface Order {
  task: string
  agent: PeerId
  /** On whose behalf. */
  project: string
  fileName: string
  places: Place[]
  /** SHA-256 of the manifest's text. */
  manifest: string
  /** Milliseconds since 1970, by the server's clock. */
  expiresAt: number
}

/** As it travels. */
export interface SignedOrder {
  order: string
  signature: string
  manifest: string
}

export function manifestHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function signOrder(key: KeyObject, order: Order): Omit<SignedOrder, 'manifest'> {
  const text = JSON.stringify(order)
  return { order: text, signature: signText(key, 'order', text) }
}

/** Throws unless the server signed exactly this for exactly this agent, and lately. */
export function openOrder(
  key: KeyObject,
  { order: text, signature, manifest }: SignedOrder,
  { agent, now }: { agent: PeerId; now: number },
): { order: Order; manifest: Manifest } {
  if (!isSigned(key, 'order', text, signature)) throw new Error("the order's signature is wrong")
  const order = JSON.parse(text) as Order
  if (order.agent !== agent) throw new Error('the order is for another agent')
  if (now >= order.expiresAt) throw new Error('the order is too old')
  if (manifestHash(manifest) !== order.manifest) throw new Error('the manifest is not the one of the order')
  return { order, manifest: new Manifest(manifest) }
}
