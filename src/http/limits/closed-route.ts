import type { FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import { type TObject, type TProperties, Type } from 'typebox'
import { AppError, ERRORS, isAddressable } from '../../kernel/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What its address carries is decided by others: a page, or a source that is asked in the way an export says. */
    anyQuery?: boolean
  }
}

/** A browser can set no header for a stream, a socket or a link. */
const TicketQuery = {
  token: Type.Optional(Type.String({ description: 'A ticket' })),
  ticket: Type.Optional(Type.String({ description: 'The same by another name' })),
}

const MAY_HAVE_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Of a route that takes none. Programs that always send an object may send an empty one. */
export const NO_BODY = Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()])

/**
 * What a route's schemas do not name, it does not take: a parameter that is misspelt, or a body that nobody reads, is refused
 * and not ignored. For every route by itself, so that none can forget it.
 */
export function closeRoute(route: RouteOptions): void {
  const { config = {}, schema = {} } = route
  const isPage = (schema as { hide?: boolean }).hide
  if (isPage) return
  route.schema = {
    ...schema,
    ...(!config.anyQuery && { querystring: closedQuery(schema, config.access === 'ticket') }),
    ...(takesNoBody(route) && { body: NO_BODY }),
  }
}

function closedQuery({ querystring }: FastifySchema, takesTickets: boolean): TObject {
  const { properties = {}, ...rest } = (querystring ?? Type.Object({})) as TObject
  const all = { ...properties, ...(takesTickets && TicketQuery) }
  return { ...rest, ...Type.Object(all as TProperties), additionalProperties: false } as TObject
}

function takesNoBody({ method, schema, config }: RouteOptions): boolean {
  const methods = [method].flat()
  return methods.every((one) => MAY_HAVE_BODY.has(one)) && !schema?.body && !config?.file
}

/** Places where an id is expected, so that what comes without one is not answered by the list above it. */
export class IdPlaces {
  readonly #places = new Set<string>()

  add({ method, url }: RouteOptions): void {
    const above = /^(.+)\/:[^/]+\/?$/.exec(url)?.[1]
    for (const one of [method].flat()) if (above !== undefined) this.#places.add(`${one} ${above}`)
  }

  /** Whether the address ends with a slash where an id belongs. */
  lacksId({ method, url, routeOptions }: FastifyRequest): boolean {
    return url.split('?', 1)[0]?.endsWith('/') === true && this.#places.has(`${method} ${routeOptions.url}`)
  }
}

/** The ids of a path. What has slashes in it, such as a path of the repository, is read by its domain. */
export function requireAddressable(params: unknown): void {
  for (const [name, value] of Object.entries(params ?? {})) {
    if (name === '*' || typeof value !== 'string' || isAddressable(value)) continue
    const message = value === '' ? 'must not be empty' : `must not be '${value}'`
    throw new AppError(ERRORS.REQUEST_INVALID, `path/${name} ${message}`, {
      details: { errors: [{ path: `path/${name}`, message }] },
    })
  }
}
