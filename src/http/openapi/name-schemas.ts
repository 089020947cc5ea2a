import { isDeepStrictEqual } from 'node:util'

export type Json = Record<string, unknown>

/** Members whose values are data, not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'required'])

/**
 * Moves each schema with a `title` to `components.schemas` under that name and leaves a reference. Routes keep whole
 * schemas, so that what is checked at run time needs no references. `described` replaces schemas that take anything.
 */
export function nameSchemas(document: Json, described: Record<string, unknown>): Json {
  const schemas: Record<string, Json> = {}

  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const { title, ...schema } = value as Json
    return typeof title === 'string' ? named(title, schema) : members(value as Json)
  }

  const members = (value: Json): Json =>
    withMapping(
      Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, DATA.has(name) ? member : visit(member)]),
      ),
    )

  const named = (name: string, { examples, ...schema }: Json): Json => {
    const known = schemas[name]
    const { title: _, ...own } = (described[name] ?? schema) as Json
    // Entered before its members are visited: a schema may refer to itself.
    if (!known) {
      const entered: Json = {}
      schemas[name] = entered
      Object.assign(entered, members(own))
    } else if (!described[name] && !isDeepStrictEqual(known, members(own)))
      throw new Error(`two schemas of the API are called ${name}`)
    const { description } = schema
    const differs = typeof description === 'string' && description !== schemas[name]?.description
    return { $ref: `#/components/schemas/${name}`, ...(differs && { description }) }
  }

  /** A discriminator names the components by the values that distinguish them. */
  const withMapping = (schema: Json): Json => {
    const { discriminator, oneOf } = schema as { discriminator?: { propertyName: string }; oneOf?: Json[] }
    if (!discriminator || !oneOf) return schema
    const mapping = oneOf.map(({ $ref }) => {
      const variant = schemas[String($ref).split('/').at(-1) ?? ''] as {
        properties: Record<string, { enum?: string[] }>
      }
      // The plugin writes a constant as an enumeration of one.
      return [variant.properties[discriminator.propertyName]?.enum?.[0], $ref]
    })
    return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) } }
  }

  const { paths, webhooks, components, ...head } = document
  const { responses, ...fixed } = components as Json
  const parts = { paths: visit(paths), webhooks: visit(webhooks) }
  const answers = visit(responses)
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...head, ...parts, components: { ...fixed, responses: answers, schemas: sorted } }
}
