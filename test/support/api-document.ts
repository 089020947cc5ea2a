import type { OpenApi } from '../http/rude/requests.ts'
import type { startHttp } from './http.ts'

type Json = Record<string, unknown>

/** Their domain checks them, with codes of its own: to a route they are anything. */
const CHECKED_BELOW = new Set(['Template', 'Header', 'Footer'])

/** The API document with each reference replaced by what it names, and bodies that are files left out. */
export async function readApi({ ask }: Pick<Awaited<ReturnType<typeof startHttp>>, 'ask'>): Promise<OpenApi> {
  const document = (await (await ask('GET', '/openapi.json')).json()) as Json
  const schemas = (document.components as { schemas: Json }).schemas
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: string }
    const name = $ref?.startsWith('#/components/schemas/') ? ($ref.split('/').at(-1) as string) : undefined
    if (name !== undefined) return CHECKED_BELOW.has(name) ? {} : resolve(schemas[name])
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member)]))
  }
  const { paths } = document as unknown as OpenApi
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    if (!operation.requestBody?.content['application/json']) delete operation.requestBody
    delete (operation as Json).responses
  }
  return { paths: resolve(paths) as OpenApi['paths'] }
}
