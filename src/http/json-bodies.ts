import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, ERRORS, isAppError, messageOf, utf8 } from '../kernel/index.ts'

type CallbackParser = (
  request: FastifyRequest,
  text: string,
  done: (error: Error | null, parsed?: unknown) => void,
) => void

/** JSON is UTF-8. Bytes that are something else would become other letters, in titles and file names, without a word. */
export function jsonBodies(app: FastifyInstance, parse: (text: string) => unknown): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      refuseOtherForms(request)
      try {
        return parse(utf8(body))
      } catch (cause) {
        if (isAppError(cause)) throw cause
        throw new AppError(ERRORS.BODY_NOT_JSON, `the body is not valid JSON: ${messageOf(cause)}`, { cause })
      }
    },
  )
}

/** Fastify's own, which refuses members that could be taken for a prototype. */
export function parserOf(app: FastifyInstance): (text: string) => unknown {
  const parse = app.getDefaultJsonParser('error', 'error') as CallbackParser
  return (text) => {
    let value: unknown
    parse({} as FastifyRequest, text, (error, parsed) => {
      if (error) throw error
      value = parsed
    })
    return value
  }
}

function refuseOtherForms({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw new AppError(
      ERRORS.MEDIA_TYPE_UNSUPPORTED,
      `send the body as it is, without Content-Encoding: ${encoding}`,
    )
  const charset = /;\s*charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  if (!/^(utf-?8|us-ascii)$/i.test(charset))
    throw new AppError(ERRORS.MEDIA_TYPE_UNSUPPORTED, `send the body in UTF-8, not in ${charset}`)
}
