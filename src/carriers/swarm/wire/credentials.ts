import { createPublicKey, type KeyObject } from 'node:crypto'
import type { PeerId } from './peer-id.ts'

/** What a peer needs to connect to others and to verify them. */
export interface Credentials {
  id: PeerId
  /** PEM each. */
  key: string
  certificate: string
  authority: string
  /** Checks tickets and orders. */
  verifyKey: KeyObject
}

export function readVerifyKey(pem: string): KeyObject {
  return createPublicKey(pem)
}

/** The cheaper of two strong suites first: an agent enciphers every byte once and deciphers it once. */
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384'

/** Node's options for TLS 1.3 with certificates on both sides, and nothing older. */
export function tlsOptions({ key, certificate, authority }: Credentials) {
  const versions = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const
  return { key, cert: certificate, ca: authority, ciphers: CIPHERS, ...versions }
}
