import type { TargetResult, TransferResult } from '../carrier.ts'

interface GseRow {
  error_code?: unknown
  error_msg?: unknown
  content?: {
    type?: unknown
    mode?: unknown
    dest_agent_id?: unknown
    dest_container_id?: unknown
    dest_file_dir?: unknown
    progress?: unknown
  }
}

const DONE = 0
const RUNNING = 115
const UPLOAD_MODE = 0
/** Some versions of GSE put their module's number in front of a code. */
const MODULE = 1_000_000

/** One row for the upload from the source, one for each download to a target. */
export function readRows(data: unknown): TransferResult {
  const rows = (data as { result?: unknown } | null)?.result
  const targets: TargetResult[] = []
  let uploadError: TransferResult['uploadError'] = null
  for (const row of Array.isArray(rows) ? (rows as (GseRow | null)[]) : []) {
    if (row === null) continue
    const code = codeOf(row.error_code)
    const message = text(row.error_msg)
    if (!row.content || code === undefined) continue
    if (!isUpload(row.content)) targets.push(toTarget(row.content, code, message))
    else if (code !== DONE && code !== RUNNING)
      uploadError ??= { code, message: message || `the upload from the source failed with code ${code}` }
  }
  return { uploadError, targets }
}

function toTarget(content: NonNullable<GseRow['content']>, errorCode: number, errorMessage: string) {
  const directory = text(content.dest_file_dir)
  return {
    agentId: text(content.dest_agent_id),
    containerId: text(content.dest_container_id),
    ...(directory !== '' && { directory }),
    errorCode,
    errorMessage,
    progress: percentOf(content.progress),
  }
}

function isUpload({ type, mode }: NonNullable<GseRow['content']>): boolean {
  return typeof type === 'string' && type !== '' ? type === 'upload' : mode === UPLOAD_MODE
}

function codeOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
  return value >= MODULE && value < 2 * MODULE ? value - MODULE : value
}

function percentOf(value: unknown): number {
  const percent = Number(value)
  return percent >= 0 && percent <= 100 ? percent : 0
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
