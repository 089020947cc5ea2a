import { readFile } from 'node:fs/promises'
import type { HttpSource } from '../../app/export.ts'
import { AppError, ERRORS, isAppError, messageOf, utf8 } from '../../kernel/index.ts'
import type { SourceOptions } from './source-options.ts'

/** Spelt out, so that `wharf --help` loads nothing of the pipeline; a test compares them. */
export const PRESET_NAMES =
  'wharf, drf, spring, laravel, postgrest, odata, jsonapi, links, elasticsearch, ndjson, csv'

interface HttpSourceOptions extends SourceOptions {
  preset?: string
  source?: string
  pageSize?: number
}

/** The source of `--source` or `--preset`; nothing for one that speaks Wharf's own protocol. */
export async function httpSourceOf(
  url: string | undefined,
  { preset, source, pageSize, header = {} }: HttpSourceOptions,
): Promise<HttpSource | undefined> {
  if (source === undefined && preset === undefined) {
    if (pageSize !== undefined && (pageSize < 100 || pageSize > 1_000))
      throw invalid('--page-size takes 100 to 1,000 without --preset or --source')
    return undefined
  }
  const { parseHttpSource, parseRequest } = await import('../../app/export.ts')
  const members = source === undefined ? {} : await membersOf(source, parseRequest)
  const found = parseHttpSource({
    ...members,
    ...(url !== undefined && { url }),
    ...(preset !== undefined && { preset }),
  })
  const { headers = {}, paging = {} } = found
  return {
    ...found,
    headers: { ...headers, ...header },
    ...(pageSize !== undefined && { paging: { ...paging, size: pageSize } }),
  }
}

async function membersOf(file: string, parse: (text: string, place: string) => unknown): Promise<object> {
  const read = readFile(file).then(utf8)
  const text = await read.catch((cause: unknown) => {
    throw invalid(`cannot read the source ${file}: ${messageOf(cause)}`, cause)
  })
  let value: unknown
  try {
    value = parse(text, 'source')
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw invalid(`${file} is not JSON: ${messageOf(cause)}`, cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${file} is not an object`)
  return value
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, message, { cause })
}
