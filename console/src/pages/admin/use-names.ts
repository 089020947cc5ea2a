import { useQueries } from '@tanstack/react-query'
import { listKeys } from '../../api/admin.ts'
import { useProjects } from '../../live/project.ts'
import { useWords } from './words.ts'

const KEY = /^key (.+)$/

/** Names in place of ids: of all projects, and of the keys of those that are asked for. What is gone keeps its id. */
export function useNames(keysOf: readonly (string | null)[]): { of(id: string): string } {
  const t = useWords()
  const { data: projects = [] } = useProjects()
  const lists = useQueries({
    queries: projects
      .filter(({ project_id }) => keysOf.includes(project_id))
      .map(({ project_id }) => ({
        queryKey: ['keys', project_id],
        queryFn: ({ signal }: { signal: AbortSignal }) => listKeys(project_id, signal),
      })),
  })
  const names = new Map(projects.map(({ project_id, name }) => [project_id, name]))
  for (const { key_id, name } of lists.flatMap(({ data = [] }) => data)) names.set(key_id, name)
  return {
    of: (id) => {
      const key = KEY.exec(id)?.[1]
      // A key that was made is named by its project and itself.
      const named = id.split(' ').map((one) => names.get(one) ?? one)
      if (key === undefined) return named.join(' ')
      return t('audit.key', { name: names.get(key) ?? key })
    },
  }
}
