import type { ExportTask, Preview, TablePreview } from '../../../src/http/wire.ts'
import { ask } from './client.ts'
import { rememberExport } from './own-exports.ts'

export type ExportType = ExportTask['type']
export type { Preview }

export type SheetPreview = TablePreview
export type SheetArea = Pick<TablePreview['top'], 'rows' | 'cells'>
export type SheetCell = SheetArea['cells'][number]
export type CellLook = SheetCell['style']
export type DataRow = TablePreview['data'][number]

/** `json` is the request as text: what a person typed in it keeps its numbers and the order of its keys. */
export async function previewExport(projectId: string, json: string, signal?: AbortSignal): Promise<Preview> {
  return ask('/api/exports/preview', { method: 'POST', json: ofProject(projectId, json), signal })
}

/** The same `attempt` makes no second export, however often it is sent. */
export async function createExport(projectId: string, json: string, attempt: string): Promise<ExportTask> {
  const task = await ask<ExportTask>('/api/exports', {
    method: 'POST',
    json: ofProject(projectId, json),
    attempt,
  })
  rememberExport(task)
  return task
}

function ofProject(projectId: string, json: string): string {
  return `{"project_id":${JSON.stringify(projectId)},${json.slice(1)}`
}

/** The same request for a shell. The key is a variable: a key belongs in no clipboard. */
export function curlOf(json: string, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${quoted(`${origin}/api/exports`)}`,
    '-H "Authorization: Bearer $WHARF_KEY"',
    "-H 'Content-Type: application/json'",
    `-d ${quoted(json)}`,
  ].join(' \\\n  ')
}
