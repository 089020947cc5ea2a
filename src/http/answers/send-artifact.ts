import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS, metrics } from '../../kernel/index.ts'
import type { ByteRange, OpenedArtifact } from '../../storage/index.ts'

export interface SendOptions {
  open(range?: ByteRange): Promise<OpenedArtifact>
  /** What the bytes are counted as. */
  domain: string
  fileName: string
  size: number
  /** Told when the last byte is out, or the reader has gone. */
  onSent?(sent: { bytes: number; complete: boolean }): void
}

/** A file with `ETag`, `Range` and a name that survives every language (RFC 9110, RFC 6266). */
export async function sendArtifact(
  request: FastifyRequest,
  reply: FastifyReply,
  options: SendOptions,
): Promise<FastifyReply> {
  const artifact = await openWanted(request, options)
  reply.headers({
    ETag: artifact.etag,
    'Accept-Ranges': 'bytes',
    'Last-Modified': new Date(artifact.modifiedAt).toUTCString(),
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': contentDisposition(options.fileName),
  })
  if (matches(request.headers['if-none-match'], artifact.etag)) {
    artifact.stream.destroy()
    return reply.code(304).send()
  }
  const { range, size, contentType } = artifact
  const length = range ? range.end - range.start + 1 : size
  if (range) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
  reply.headers({ 'Content-Length': length, 'Content-Type': contentType })
  if (request.method === 'HEAD') {
    artifact.stream.destroy()
    // An empty stream: for no payload at all, Fastify would say that the file has no bytes.
    return reply.send(Readable.from([]))
  }
  let bytes = 0
  artifact.stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  reply.raw.once('close', () => {
    metrics.bytesSent.inc({ domain: options.domain }, bytes)
    options.onSent?.({ bytes, complete: bytes === length })
  })
  return reply.send(artifact.stream)
}

/** The range, or the whole file where the reader's part of it is of another one (`If-Range`). */
async function openWanted({ headers }: FastifyRequest, options: SendOptions): Promise<OpenedArtifact> {
  const condition = headers['if-range']
  if (headers.range === undefined || typeof condition !== 'string')
    return options.open(parseRange(headers.range, options.size))
  const whole = await options.open()
  const holds = condition === whole.etag || condition === new Date(whole.modifiedAt).toUTCString()
  if (!holds) return whole
  whole.stream.destroy()
  return options.open(parseRange(headers.range, options.size))
}

/** One range; several at once are answered with the whole file, as the standard allows. */
function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const [, start = '', end = ''] = match
  if (start === '') return { start: Math.max(0, size - Number(end)) }
  if (end !== '' && Number(end) < Number(start))
    throw new AppError(ERRORS.RANGE_NOT_SATISFIABLE, `'${header}' ends before it starts`, {
      details: { size },
    })
  return { start: Number(start), ...(end !== '' && { end: Number(end) }) }
}

function matches(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',') ?? []
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

export function contentDisposition(fileName: string): string {
  const plain = fileName.normalize('NFKD').replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
