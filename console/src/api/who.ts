import type { Session as Who } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

/** Whose key this is; what is read after this answer is at least as new as its `seq`. */
export function askWho(token: string, signal?: AbortSignal): Promise<Who> {
  return ask<Who>('/api/session', { token, signal })
}
