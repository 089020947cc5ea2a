import type { FastifyInstance } from 'fastify'
import { parseKeepingOrder } from '../../kernel/index.ts'
import { jsonBodies } from '../json-bodies.ts'

/** The order of keys carries meaning in templates and headers; `JSON.parse` would sort the ones that look like numbers. */
export function keepKeyOrder(app: FastifyInstance): void {
  jsonBodies(app, (text) => (text === '' ? undefined : parseKeepingOrder(text)))
}
