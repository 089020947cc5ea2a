import type { Project } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { Project }

export async function listProjects(signal: AbortSignal): Promise<Project[]> {
  return (await ask<{ items: Project[] }>('/api/projects', { signal })).items
}
