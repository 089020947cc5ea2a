import { ask } from './client.ts'

export interface Who {
  role: 'admin' | 'project'
  project_id: string | null
  project_name: string | null
  /** The newest event: what is read after this answer is at least as new. */
  seq: number
}

export function askWho(token: string, signal?: AbortSignal): Promise<Who> {
  return ask<Who>('/api/session', { token, signal })
}
