import { createHash, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto'

/** What an agent's own key signs, each for one purpose only. */
export type AgentPurpose = 'pass' | 'hello' | 'enroll'

export function newNonce(): string {
  return randomBytes(24).toString('base64url')
}

/** The public half of an agent's key. Throws unless it is one that peers of ours use. */
export function readAgentKey(pem: string): KeyObject {
  const key = createPublicKey(pem)
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('a peer must show an EC key on P-256')
  return key
}

/** By this a key is known in lists of revoked ones. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

function message(purpose: AgentPurpose, parts: readonly (string | number | null)[]): Buffer {
  return Buffer.from(`wharf agent ${purpose} v1\n${JSON.stringify(parts)}`, 'utf8')
}

export function signAs(
  key: KeyObject,
  purpose: AgentPurpose,
  parts: readonly (string | number | null)[],
): string {
  return sign('sha256', message(purpose, parts), key).toString('base64url')
}

export function isSignedBy(
  publicKey: KeyObject,
  purpose: AgentPurpose,
  parts: readonly (string | number | null)[],
  signature: string,
): boolean {
  return verify('sha256', message(purpose, parts), publicKey, Buffer.from(signature, 'base64url'))
}
