import { useQuery } from '@tanstack/react-query'
import { listSaved, listTemplates, type SavedExport, type TemplateSummary } from '../../api/saved.ts'
import { may, session } from '../../api/session.ts'
import { addressOf } from '../../live/page-address.ts'
import { useProject } from '../../live/project.ts'
import { useStore } from '../../store.ts'
import { type Found, MOST_OF_A_KIND } from './find.ts'

/** Saved exports and templates of the project whose names have the text: their lists are read whole, once per palette. */
export function useNamed(text: string, asks: boolean): { found: Found[]; isFetching: boolean } {
  const projectId = useProject()?.project_id
  const mayLook = may(useStore(session), 'look', 'exports')
  const usual = { enabled: asks && mayLook && projectId !== undefined, refetchOnMount: 'always' as const }
  const saved = useQuery({
    queryKey: ['saved', projectId],
    queryFn: ({ signal }) => listSaved(projectId as string, signal),
    ...usual,
  })
  const templates = useQuery({
    queryKey: ['templates', projectId],
    queryFn: ({ signal }) => listTemplates(projectId as string, signal),
    ...usual,
  })
  const has = (names: string) => names.toLowerCase().includes(text.toLowerCase())
  const found = asks ? [...foundSaved(saved.data, has), ...foundTemplates(templates.data, has)] : []
  return { found, isFetching: saved.isFetching || templates.isFetching }
}

function foundSaved(saved: readonly SavedExport[] = [], has: (names: string) => boolean): Found[] {
  return saved
    .map(({ name, request: { title, file_name } }): Found => {
      const others = [title, file_name].filter((one) => typeof one === 'string' && one !== name)
      const path = addressOf('/saved/exports', name)
      return { kind: 'saved', id: name, title: name, about: others.join(' · '), path }
    })
    .filter(({ title, about }) => has(`${title}\n${about}`))
    .slice(0, MOST_OF_A_KIND)
}

function foundTemplates(
  templates: readonly TemplateSummary[] = [],
  has: (names: string) => boolean,
): Found[] {
  return templates
    .filter(({ name }) => has(name))
    .map(({ name }): Found => {
      const path = addressOf('/saved/templates', name)
      return { kind: 'templates', id: name, title: name, about: '', path }
    })
    .slice(0, MOST_OF_A_KIND)
}
