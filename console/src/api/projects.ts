import { ask } from './client.ts'

export interface Project {
  project_id: string
  name: string
  created_at: string
}

export async function listProjects(signal: AbortSignal): Promise<Project[]> {
  return (await ask<{ items: Project[] }>('/api/projects', { signal })).items
}
