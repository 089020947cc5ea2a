import { Type } from 'typebox'
import { BYTES, type DocumentedAnswer } from './operation.ts'

/** Headers of every answer that is a file. */
const FILE_HEADERS = {
  ETag: Type.String({ description: 'Strong; good for If-None-Match and If-Range' }),
  'Last-Modified': Type.String({ description: 'An HTTP date' }),
  'Accept-Ranges': Type.Enum(['bytes']),
  'Content-Disposition': Type.String({ description: 'The file name, in ASCII and in UTF-8 (RFC 6266)' }),
}

const EXPORT_TYPES = [
  'text/csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/zip',
  'application/x-ndjson',
  'application/vnd.apache.parquet',
  'application/gzip',
  'application/zstd',
]

const bytesAs = (types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: BYTES }]))

/** An answer of `sendFile`: the whole file, one range of it, or nothing new. */
function fileAnswers(types: readonly string[]): Record<number, DocumentedAnswer> {
  return {
    200: { description: 'The file', headers: FILE_HEADERS, content: bytesAs(types) },
    206: {
      description: 'The range that was asked for',
      headers: { ...FILE_HEADERS, 'Content-Range': Type.String() },
      content: bytesAs(types),
    },
    304: { description: 'The caller has this version already (If-None-Match)' },
  }
}

const RANGE_HEADERS = {
  Range: Type.Optional(Type.String({ description: 'One range, such as bytes=0-1023' })),
  'If-Range': Type.Optional(
    Type.String({ description: 'An ETag: of another version the whole file is sent' }),
  ),
  'If-None-Match': Type.Optional(Type.String({ description: 'ETags that the caller has' })),
}

export const EXPORT_FILE = {
  headers: RANGE_HEADERS,
  answers: {
    ...fileAnswers(EXPORT_TYPES),
    302: {
      description: 'The file is at a public address (CDN_BASE_URL)',
      headers: { Location: Type.String({ format: 'uri' }) },
    },
  },
}

export const TASK_RESULT = {
  headers: RANGE_HEADERS,
  answers: fileAnswers(['application/octet-stream', 'video/mp4']),
}

export const ACCOUNT_FILE = {
  headers: RANGE_HEADERS,
  answers: fileAnswers(['application/octet-stream']),
}

/** Of `mode=sync`. */
export const SYNC_FILE = {
  answers: {
    200: {
      description: 'With mode=sync: the file itself',
      headers: { 'Content-Disposition': FILE_HEADERS['Content-Disposition'] },
      content: bytesAs(EXPORT_TYPES),
    },
  },
}
