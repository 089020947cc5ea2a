import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, counted, ERRORS, isAppError, metrics } from '../../kernel/index.ts'
import {
  type ByteRange,
  checkedStream,
  contentDisposition,
  damaged,
  type OpenedArtifact,
  requireSize,
  requireUndamaged,
} from '../../storage/index.ts'

type Opened = Omit<OpenedArtifact, 'fileName' | 'version' | 'untouched'> & Partial<OpenedArtifact>

export interface FileToSend {
  /** May be called twice: `If-Range` is compared with the opened file. */
  open(range?: ByteRange): Promise<Opened>
  /** The label under which the metrics count the bytes. */
  domain: string
  /** The name under which a browser saves it. */
  fileName: string
  /** As it was recorded when the file was stored. */
  size: number
  /** Likewise, where it was recorded. */
  sha256?: string | undefined
  /** Called before anything is sent of a file that is as it should be. */
  beforeSending?(): Promise<void>
  /** Called after the last byte, or when the reader has disconnected. */
  onSent?(sent: { bytes: number; complete: boolean }): void
}

/** Answers with a file: the whole, one range of it, or "not modified" (RFC 9110, RFC 6266). */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: FileToSend,
): Promise<FastifyReply> {
  const artifact = await openSound(request, file)
  reply.headers({
    ETag: artifact.etag,
    'Accept-Ranges': 'bytes',
    'Last-Modified': new Date(artifact.modifiedAt).toUTCString(),
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': contentDisposition(file.fileName),
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
    // An empty stream: without a payload Fastify would set the length to 0.
    return reply.send(Readable.from([]))
  }
  let bytes = 0
  const stream = file.sha256 === undefined ? artifact.stream : checkedStream(artifact, file.sha256)
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > length) stream.destroy(changed(bytes, length))
  })
  stream.once('error', (error) => {
    if (isAppError(error, ERRORS.ARTIFACT_DAMAGED)) metrics.damagedFiles.inc({ domain: file.domain })
    request.log.error({ err: error, domain: file.domain, file: file.fileName }, 'a file was not sent whole')
  })
  // Without the rest that was announced, the reader would wait for it until the connection times out.
  stream.once('end', () => {
    if (bytes === length) return
    metrics.damagedFiles.inc({ domain: file.domain })
    reply.raw.destroy(changed(bytes, length))
  })
  reply.raw.once('close', () => {
    metrics.bytesSent.inc({ domain: file.domain }, bytes)
    file.onSent?.({ bytes, complete: bytes === length })
  })
  return reply.send(stream)
}

/** The file, if it has the size that was recorded. */
async function openSound(request: FastifyRequest, file: FileToSend) {
  const artifact = await openWanted(request, file).catch((error: unknown) => {
    if (isAppError(error, ERRORS.ARTIFACT_DAMAGED)) metrics.damagedFiles.inc({ domain: file.domain })
    throw error
  })
  try {
    requireSize(artifact.size, file.size)
    if (file.sha256 !== undefined) requireUndamaged(artifact, file.sha256)
    await file.beforeSending?.()
    return artifact
  } catch (error) {
    if (isAppError(error, ERRORS.ARTIFACT_DAMAGED)) metrics.damagedFiles.inc({ domain: file.domain })
    artifact.stream.destroy()
    throw error
  }
}

/** While it was sent. */
function changed(bytes: number, length: number): AppError {
  return damaged(`the stored file was changed while it was sent: ${bytes} of ${counted(length, 'byte')}`)
}

/** The range, or the whole file where the caller's part is of another version (`If-Range`). */
async function openWanted({ headers }: FastifyRequest, file: FileToSend) {
  const condition = headers['if-range']
  if (headers.range === undefined || typeof condition !== 'string')
    return file.open(parseRange(headers.range, file.size))
  const whole = await file.open()
  const holds = condition === whole.etag || condition === new Date(whole.modifiedAt).toUTCString()
  if (!holds) return whole
  whole.stream.destroy()
  return file.open(parseRange(headers.range, file.size))
}

/** One range. Several ranges, or another unit, mean the whole file, as the standard allows. */
function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.replaceAll(' ', '') ?? '')
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
