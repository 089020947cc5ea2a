import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, ERRORS, messageOf, parseKeepingOrder } from '../../kernel/index.ts'

/** The order of keys carries meaning in templates and headers; `JSON.parse` would sort the ones that look like numbers. */
export function keepKeyOrder(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: FastifyRequest, text: string) => (text === '' ? undefined : parseBody(text)),
  )
}

function parseBody(text: string): unknown {
  try {
    return parseKeepingOrder(text)
  } catch (cause) {
    throw new AppError(ERRORS.BODY_NOT_JSON, `the body is not valid JSON: ${messageOf(cause)}`, { cause })
  }
}
