import type { ExportTask, Preview, TablePreview } from '../../../src/http/wire.ts'
import { ask } from './client.ts'
import { rememberExport } from './own-exports.ts'

/** What a person fills in; the template is the text they typed. */
export interface ExportDraft {
  source_url: string
  type: ExportTask['type']
  file_name?: string | undefined
  title?: string | undefined
  summary?: string | undefined
  operator_id?: string | undefined
  page_size?: number | undefined
  timezone?: string | undefined
  callback?: string | undefined
  watermark?: boolean | undefined
  template?: string | undefined
  template_from?: 'request' | 'source' | undefined
}

/** The template goes in as it was typed: to parse and write it again would sort keys and round long numbers. */
function bodyOf(projectId: string | undefined, { template, ...draft }: ExportDraft): string {
  const filled = Object.entries(draft).filter(([, value]) => value !== undefined && value !== '')
  const rest = JSON.stringify({ project_id: projectId, ...Object.fromEntries(filled) })
  return template?.trim() ? `${rest.slice(0, -1)},"template":${template}}` : rest
}

export type SheetPreview = TablePreview
export type SheetArea = Pick<TablePreview['top'], 'rows' | 'cells'>
export type SheetCell = SheetArea['cells'][number]
export type CellLook = SheetCell['style']
export type DataRow = TablePreview['data'][number]

export async function previewExport(
  projectId: string,
  draft: ExportDraft,
  signal?: AbortSignal,
): Promise<Preview> {
  const json = bodyOf(projectId, draft)
  return ask('/api/exports/preview', { method: 'POST', json, signal })
}

/** The same request for a shell. The key is a variable: a key belongs in no clipboard. */
export function curlOf(draft: ExportDraft, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${quoted(`${origin}/api/exports`)}`,
    '-H "Authorization: Bearer $WHARF_KEY"',
    "-H 'Content-Type: application/json'",
    `-d ${quoted(bodyOf(undefined, draft))}`,
  ].join(' \\\n  ')
}

/** The same `attempt` makes no second export, however often it is sent. */
export async function createExport(
  projectId: string,
  draft: ExportDraft,
  attempt: string,
): Promise<ExportTask> {
  const json = bodyOf(projectId, draft)
  const headers = { 'idempotency-key': attempt }
  const task = await ask<ExportTask>('/api/exports', { method: 'POST', json, headers })
  rememberExport(task)
  return task
}
