import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { listProjects, type Project } from '../api/projects.ts'
import { session } from '../api/session.ts'
import { Store, useStore } from '../store.ts'

const KEPT_AS = 'wharf.project'
const chosen = new Store<string | null>(sessionStorage.getItem(KEPT_AS))

export function chooseProject(id: string): void {
  sessionStorage.setItem(KEPT_AS, id)
  chosen.set(id)
}

/** The project of the one thing that the page is about; null: the choice is free. */
export const pinnedProject = new Store<string | null>(null)

/** For the admin: this page is about something of this project, so nothing here is of another one, and what follows begins with it. */
export function usePinnedProject(id: string | undefined): void {
  const isAdmin = useStore(session)?.role === 'admin'
  useEffect(() => {
    if (!isAdmin || id === undefined) return
    chooseProject(id)
    pinnedProject.set(id)
    return () => pinnedProject.set(null)
  }, [isAdmin, id])
}

/** The name of a project that this session can see; the id of one that is gone. */
export function useProjectName(): (id: string) => string {
  const current = useStore(session)
  const { data } = useProjects()
  return useMemo(() => {
    const all = [...(data ?? []), ...(current?.projects ?? [])]
    const names = new Map(all.map(({ project_id, name }) => [project_id, name]))
    if (current?.projectId) names.set(current.projectId, current.projectName ?? current.projectId)
    return (id) => names.get(id) ?? id
  }, [data, current])
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
