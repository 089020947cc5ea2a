import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { CONSOLE_FOLDER } from './page.ts'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Answers with a file of the built console. Its name has the hash of its content, so it may be kept for ever. */
export async function sendAsset(
  request: FastifyRequest<{ Params: { file: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { file } = request.params
  const type = TYPES[extname(file)]
  // A plain name and nothing else: no folder can be left with it.
  const path = /^\w[\w.-]*$/.test(file) && type ? new URL(`assets/${file}`, CONSOLE_FOLDER) : undefined
  const size = path && (await sizeOf(path))
  if (!path || !type || size === undefined)
    throw new AppError(ERRORS.NOT_FOUND, `the console has no file '${file}'; reload the page`)
  reply
    .type(type)
    .headers({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' })
  const packed = new URL(`${path.href}.gz`)
  const packedSize = acceptsGzip(request) ? await sizeOf(packed) : undefined
  if (packedSize !== undefined) {
    reply.headers({ 'Content-Encoding': 'gzip', 'Content-Length': packedSize })
    return reply.send(createReadStream(packed))
  }
  return reply.header('Content-Length', size).send(createReadStream(path))
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(headers['accept-encoding'] ?? ''))
}

async function sizeOf(path: URL): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? found.size : undefined
}
