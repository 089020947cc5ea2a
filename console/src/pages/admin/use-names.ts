import { useQueries } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { listKeys } from '../../api/admin.ts'
import { useProjects } from '../../live/project.ts'
import { whoText } from '../../parts/text/who-text.ts'

/** Names in place of ids: of all projects, and of the keys of those that are asked for. What is gone keeps its id. */
export function useNames(keysOf: readonly (string | null)[]): {
  of(id: string): string
  who(actor: string): string
} {
  const { t } = useTranslation()
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
  // A key that was made is named by its project and itself.
  const of = (id: string) =>
    id
      .split(' ')
      .map((one) => names.get(one) ?? one)
      .join(' ')
  return { of, who: (actor) => whoText(of(actor), t) }
}
