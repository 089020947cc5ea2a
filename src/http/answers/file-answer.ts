import type { FileHandle } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS, metrics } from '../../kernel/index.ts'

export interface AnsweredFile {
  handle: FileHandle
  size: number
  modifiedAt: number
  etag: string
  contentType: string
  /** What a browser should call it. */
  name: string
}

/** Answers with a file: whole, one range of it, or "not modified" (RFC 9110). Closes the file in every case. */
export async function answerFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: AnsweredFile,
): Promise<FastifyReply> {
  const { handle, size, etag } = file
  let open = true
  try {
    reply.headers({
      ETag: etag,
      'Last-Modified': new Date(file.modifiedAt).toUTCString(),
      'Accept-Ranges': 'bytes',
      'Cache-Control': 'private, no-cache',
      'Content-Disposition': disposition(file.name),
    })
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    reply.type(file.contentType)
    const range = rangeOf(request, file)
    if (range) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
    const { start, end } = range ?? { start: 0, end: size - 1 }
    reply.header('Content-Length', end - start + 1)
    if (request.method === 'HEAD' || size === 0) return reply.send(request.method === 'HEAD' ? undefined : '')
    open = false
    const stream = handle.createReadStream({ start, end })
    stream.once('close', () => metrics.bytesSent.inc({ domain: 'processing' }, stream.bytesRead))
    return reply.send(stream)
  } finally {
    if (open) await handle.close()
  }
}

/** The one range that is asked for; undefined means the whole. Several ranges, or a broken header, mean the whole, too. */
function rangeOf(request: FastifyRequest, { size, etag, modifiedAt }: AnsweredFile) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range?.replaceAll(' ', '') ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const ifRange = request.headers['if-range']
  if (ifRange !== undefined && ifRange !== etag && ifRange !== new Date(modifiedAt).toUTCString())
    return undefined
  const suffix = match[1] === ''
  const start = suffix ? Math.max(0, size - Number(match[2])) : Number(match[1])
  const end = suffix || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  if (!suffix && match[2] !== '' && Number(match[2]) < start) return undefined
  if (start >= size || (suffix && Number(match[2]) === 0)) {
    throw new AppError(ERRORS.RANGE_NOT_SATISFIABLE, `the file has ${size} bytes`, { details: { size } })
  }
  return { start, end }
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((part) => ['*', etag].includes(part.trim().replace(/^W\//, '')))
}

/** RFC 6266: the real name in UTF-8, and one in ASCII for whoever cannot read that. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
