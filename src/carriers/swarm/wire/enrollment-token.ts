import { createHash } from 'node:crypto'

const FORM = /^(wae_[\w-]{43})\.([\w-]{43})$/

/** What an agent must learn from nobody but its server: it is pinned at enrolment. */
export interface Trust {
  /** PEM each: who certifies peers, and who signs orders and tickets. */
  authority: string
  verifyKey: string
}

/** The token names the server that it is for, so that nobody in between can put another one's keys into the answer. */
export function enrollmentToken(secret: string, trust: Trust): string {
  return `${secret}.${fingerprint(trust)}`
}

export function readEnrollmentToken(token: string): { secret: string; fingerprint: string } | undefined {
  const [, secret, print] = FORM.exec(token) ?? []
  return secret === undefined || print === undefined ? undefined : { secret, fingerprint: print }
}

export function fingerprint({ authority, verifyKey }: Trust): string {
  return createHash('sha256')
    .update(JSON.stringify([authority, verifyKey]))
    .digest('base64url')
}
