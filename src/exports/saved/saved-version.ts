import { createHash } from 'node:crypto'
import { AppError, ERRORS } from '../../kernel/index.ts'

/** Which version a caller means to change, as HTTP says it (RFC 9110, 13.1). */
export interface VersionWish {
  /** One of these versions, or `*`: any. */
  ifMatch?: string | undefined
  /** `*`: there must be none yet. */
  ifNoneMatch?: string | undefined
}

interface Versioned {
  /** Sealed anew with every change, and with it never the same twice. */
  request: string
  updated_at: number
}

export function etagOf({ request }: Pick<Versioned, 'request'>): string {
  return `"${createHash('sha256').update(request).digest('base64url').slice(0, 22)}"`
}

/** Throws unless the version that is there is one that the caller means. */
export function requireVersion(
  name: string,
  { ifMatch, ifNoneMatch }: VersionWish,
  present: Versioned | undefined,
): void {
  const wanted = ifMatch === undefined || (present !== undefined && isAmong(ifMatch, present))
  const unwanted = ifNoneMatch !== undefined && present !== undefined && isAmong(ifNoneMatch, present)
  if (!wanted || unwanted) throw changed(name, present)
}

export function changed(name: string, present: Versioned | undefined): AppError {
  const what = present
    ? `was changed at ${new Date(present.updated_at).toISOString()}`
    : 'is not there, or was deleted'
  return new AppError(
    ERRORS.SAVED_EXPORT_CHANGED,
    `the saved export ${name} ${what}: nothing was stored; read it and decide`,
    { details: { updated_at: present ? new Date(present.updated_at).toISOString() : null } },
  )
}

/** A proxy that compresses answers may have made the tag a weak one. */
function isAmong(header: string, present: Versioned): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etagOf(present))
}
