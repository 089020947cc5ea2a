export interface Schema {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  minimum?: number
  maximum?: number
  minItems?: number
}

interface Operation {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

/** What can be asked, and what stands for each part of it: values that exist where `fill` knows them. */
export interface Route {
  name: string
  method: string
  /** A fresh one each time: an attack may delete what it names. */
  path(): Promise<string>
  headers(): Record<string, string | number>
  body(): Promise<Buffer>
}

/** What stands for a parameter or a member of a body, or will soon; undefined: nothing particular. */
export type Fill = (name: string, at: { method: string; path: string }) => unknown

/** Without a schema, these take bytes as they come. */
const RAW = new Set(['PUT', 'PATCH'])
const RAW_BYTES = 256 * 1024

/** Every operation of the document, once for each value of those query parameters that have a list of them. */
export function routesOf({ paths }: OpenApi, fill: Fill): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, operation]) => {
      const method = name.toUpperCase()
      return queriesOf(operation).map((query) => ({
        name: `${method} ${path}${query}`,
        method,
        path: async () => `${await fillPath(path, (name) => fill(name, { method, path }))}${query}`,
        ...contentOf(operation, { method, path }, fill),
      }))
    }),
  )
}

function queriesOf({ parameters = [] }: Operation): string[] {
  const choices = parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) => valuesOf(schema).map((value) => `?${name}=${value}`))
  return ['', ...choices]
}

function valuesOf(schema: Schema | undefined): unknown[] {
  return schema?.enum ?? schema?.anyOf?.flatMap((one) => one.enum ?? []) ?? []
}

async function fillPath(path: string, fill: (name: string) => unknown): Promise<string> {
  const parts = path.split(/\{([^}]+)\}/)
  const filled = parts.map(async (part, index) => {
    if (index % 2 === 0) return part
    return encodeURIComponent(String((await fill(part)) ?? 'unknown'))
  })
  return (await Promise.all(filled)).join('')
}

function contentOf(
  { requestBody }: Operation,
  at: { method: string; path: string },
  fill: Fill,
): Pick<Route, 'headers' | 'body'> {
  const schema = requestBody && Object.values(requestBody.content)[0]?.schema
  if (schema)
    return {
      headers: () => ({ 'Content-Type': 'application/json' }),
      body: async () => {
        const names = Object.keys(schema.properties ?? {})
        const values = await Promise.all(names.map((name) => fill(name, at)))
        const known = new Map(names.map((name, index) => [name, values[index]]))
        return Buffer.from(JSON.stringify(sample(schema, (name) => known.get(name))))
      },
    }
  const size = RAW.has(at.method) ? RAW_BYTES : 0
  return {
    headers: () => (size > 0 ? { 'Content-Type': 'application/offset+octet-stream' } : {}),
    body: async () => Buffer.alloc(size, 'x'),
  }
}

/** Something that the schema takes: what it requires, and whatever else `fill` knows. */
export function sample(schema: Schema, fill: (name: string) => unknown): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const either = schema.anyOf ?? schema.oneOf
  if (either) return sample(either[0] as Schema, fill)
  if (schema.type === 'object') {
    const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
      const known = fill(name)
      if (known !== undefined) return [name, known]
      return schema.required?.includes(name) ? [name, sample(member, fill)] : undefined
    })
    return Object.fromEntries(members.filter((member) => member !== undefined))
  }
  if (schema.type === 'array')
    return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, fill))
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  return schema.type === 'boolean' ? true : 'rude'
}
