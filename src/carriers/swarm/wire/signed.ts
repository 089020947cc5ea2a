import { type KeyObject, sign, verify } from 'node:crypto'

/** What a signature is for: one made for an order can never pass as a ticket. */
export type Purpose = 'order' | 'ticket' | 'welcome'

function message(purpose: Purpose, text: string): Buffer {
  return Buffer.from(`wharf swarm ${purpose} v1\n${text}`, 'utf8')
}

/** Ed25519 over purpose and text, base64url. */
export function signText(key: KeyObject, purpose: Purpose, text: string): string {
  return sign(null, message(purpose, text), key).toString('base64url')
}

export function isSigned(key: KeyObject, purpose: Purpose, text: string, signature: string): boolean {
  return verify(null, message(purpose, text), key, Buffer.from(signature, 'base64url'))
}
