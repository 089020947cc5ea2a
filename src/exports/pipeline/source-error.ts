import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Table } from '../request/index.ts'

/**
 * The same error with what only the request knows: the sheet that it concerns, and where its source is asked. Queries and credentials of the
 * address stay out, they may be secret.
 */
export function sourceError(error: unknown, table: Table): unknown {
  if (!(error instanceof AppError) || !error.code.startsWith('SOURCE_')) return error
  const sheet = table.name === undefined ? '' : `sheet "${table.name}": `
  const asked = error.kind === ERRORS.SOURCE_STATUS ? `${addressOf(table)}${hint(error, table)}` : ''
  if (sheet === '' && asked === '') return error
  const { kind, message, details, retryable, retryAfter } = error
  return new AppError(kind, `${sheet}${message}${asked}`, {
    cause: error,
    details: { ...details, ...(table.name !== undefined && { sheet: table.name }) },
    retryable,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

function addressOf({ sourceUrl, http }: Table): string {
  const url = URL.parse(http?.url ?? sourceUrl)
  return url ? ` by ${url.origin}${url.pathname}` : ''
}

function hint({ details }: AppError, { http }: Table): string {
  if (details.status !== 401 && details.status !== 403) return ''
  const where = http ? 'source.auth or source.headers' : 'source_headers'
  return `; does it need credentials? ${where} can send them`
}
