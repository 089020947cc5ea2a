import type {
  ExportTask,
  GrantedConnection,
  SavedExport as SavedExportView,
  SavedRun,
  StoredTemplate,
  TemplateSummary,
} from '../../../src/http/wire.ts'
import { ask, askWithText } from './client.ts'
import { rememberExport } from './own-exports.ts'
import { Problem } from './problem.ts'

export type { GrantedConnection, SavedRun, StoredTemplate, TemplateSummary }
export type SavedExport = Omit<SavedExportView, 'request'> & { request: Record<string, unknown> }
export type Schedule = NonNullable<SavedExportView['schedule']>
export type SavedParameters = SavedExportView['parameters']

interface Page<T> {
  items: T[]
  next_cursor: string | null
}

const EXPORTS = '/api/saved-exports'
const TEMPLATES = '/api/templates'

/** The admin says whose it is; of a key it is known. */
function path(base: string, projectId: string, more: Record<string, string> = {}): string {
  return `${base}?${new URLSearchParams({ project_id: projectId, ...more })}`
}

const named = (base: string, name: string) => `${base}/${encodeURIComponent(name)}`

/** All of them: a project has a thousand at most. */
async function listAll<T>(base: string, projectId: string, signal: AbortSignal): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const more: Record<string, string> = { limit: '200', ...(cursor !== null && { cursor }) }
    const page: Page<T> = await ask(path(base, projectId, more), { signal })
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

export const listSaved = (projectId: string, signal: AbortSignal) =>
  listAll<SavedExport>(EXPORTS, projectId, signal)

export const getSaved = (
  projectId: string,
  name: string,
  signal?: AbortSignal,
): Promise<SavedExport & { text: string }> => askWithText(path(named(EXPORTS, name), projectId), { signal })

const CHANGED = 'SAVED_EXPORT_CHANGED'

/**
 * `json` is a request with `parameters` and `schedule`. With `since`, the version that somebody began with (null: there was none), another
 * one is not overwritten: the answer says when it was saved.
 */
export async function putSaved(
  projectId: string,
  name: string,
  { json, since }: { json: string; since?: string | null },
): Promise<{ changed: string | null }> {
  const headers: Record<string, string> =
    since === undefined ? {} : since === null ? { 'if-none-match': '*' } : { 'if-match': since }
  try {
    await ask(path(named(EXPORTS, name), projectId), { method: 'PUT', json, headers })
    return { changed: null }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== CHANGED) throw error
    // One that was deleted meanwhile overwrites nothing.
    if (error.changedAt === null && since !== null) return putSaved(projectId, name, { json, since: null })
    return { changed: error.changedAt ?? '' }
  }
}

export const deleteSaved = (projectId: string, name: string): Promise<null> =>
  ask(path(named(EXPORTS, name), projectId), { method: 'DELETE' })

export async function runSaved(
  projectId: string,
  name: string,
  { parameters, attempt }: { parameters: SavedParameters; attempt: string },
): Promise<ExportTask> {
  const task = await ask<ExportTask>(path(`${named(EXPORTS, name)}/run`, projectId), {
    method: 'POST',
    body: { parameters },
    attempt,
  })
  rememberExport(task)
  return task
}

export const listSavedRuns = async (projectId: string, name: string, signal: AbortSignal) =>
  (await ask<Page<SavedRun>>(path(`${named(EXPORTS, name)}/runs`, projectId), { signal })).items

export const listTemplates = (projectId: string, signal: AbortSignal) =>
  listAll<TemplateSummary>(TEMPLATES, projectId, signal)

export const getTemplate = (
  projectId: string,
  name: string,
  { version, signal }: { version?: number; signal?: AbortSignal | undefined } = {},
): Promise<StoredTemplate & { text: string }> =>
  askWithText(
    path(named(TEMPLATES, name), projectId, version === undefined ? {} : { version: String(version) }),
    {
      signal,
    },
  )

/** `json` is the template as it was typed. */
export const putTemplate = (projectId: string, name: string, json: string): Promise<{ outcome: string }> =>
  ask(path(named(TEMPLATES, name), projectId), { method: 'PUT', json: `{"template":${json}}` })

export const deleteTemplate = (projectId: string, name: string): Promise<null> =>
  ask(path(named(TEMPLATES, name), projectId), { method: 'DELETE' })

export const listConnections = async (projectId: string, signal: AbortSignal) =>
  (
    await ask<{ items: GrantedConnection[] }>(`/api/projects/${encodeURIComponent(projectId)}/connections`, {
      signal,
    })
  ).items
