import { useQuery } from '@tanstack/react-query'
import { listProjects, type Project } from '../api/projects.ts'
import { session } from '../api/session.ts'
import { Store, useStore } from '../store.ts'

const KEPT_AS = 'wharf.project'
const chosen = new Store<string | null>(sessionStorage.getItem(KEPT_AS))

export function chooseProject(id: string): void {
  sessionStorage.setItem(KEPT_AS, id)
  chosen.set(id)
}

/** All projects, for the admin; nobody else may list them. */
export function useProjects() {
  const isAdmin = useStore(session)?.role === 'admin'
  return useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => listProjects(signal),
    enabled: isAdmin,
  })
}

/** The project whose work is shown: a key's own, or the one that the admin has chosen; undefined until it is known. */
export function useProject(): Pick<Project, 'project_id' | 'name'> | undefined {
  const current = useStore(session)
  const choice = useStore(chosen)
  const { data = [] } = useProjects()
  if (current?.role === 'project' && current.projectId !== null)
    return { project_id: current.projectId, name: current.projectName ?? '' }
  return data.find(({ project_id }) => project_id === choice) ?? data[0]
}
