import { AppError, ERRORS, isAppError } from '../../kernel/index.ts'
import type { ExportBody } from './export-body.ts'

/** Fields about a task and its stored file: with `mode=sync` there is neither. */
const TASK_FIELDS = [
  'callback',
  'notify',
  'keep_hours',
  'keep_rows_hours',
  'link_hours',
  'link_uses',
] as const satisfies (keyof ExportBody)[]

export function refuseTaskFields(body: ExportBody): void {
  const errors = TASK_FIELDS.filter((field) => body[field] !== undefined).map((path) => ({
    path,
    message: 'needs a task, and mode=sync makes none; leave it out, or send the request without mode=sync',
  }))
  if (errors.length === 0) return
  const detail = errors.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new AppError(ERRORS.REQUEST_INVALID, detail, { details: { errors } })
}

/** What is too large for an answer may be well within what a task may take. */
export function adviseTask(error: unknown): unknown {
  if (!isAppError(error, ERRORS.SOURCE_TOO_LARGE)) return error
  const { kind, message, details } = error
  return new AppError(
    kind,
    `${message} with mode=sync; send the same request without mode=sync to get it as a task`,
    {
      details,
      retryable: false,
      cause: error,
    },
  )
}
