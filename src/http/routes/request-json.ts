import type { FastifyInstance } from 'fastify'
import { parseRequest } from '../../exports/index.ts'
import { jsonBodies } from '../json-bodies.ts'

/** In templates and headers the order of keys and all digits count: `JSON.parse` would sort keys that look like numbers, and round long ones. */
export function readRequestJson(app: FastifyInstance): void {
  jsonBodies(app, (text) => (text === '' ? undefined : parseRequest(text)))
}
