import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits need no slow hash: they cannot all be tried. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** Standard Webhooks' form of a secret. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** Takes the same time whether they differ early, late or not at all. */
export function matchesHash(secret: string, hash: string | null): boolean {
  const given = Buffer.from(hashSecret(secret))
  const wanted = Buffer.from(hash ?? hashSecret(''))
  return timingSafeEqual(given, wanted) && hash !== null
}
