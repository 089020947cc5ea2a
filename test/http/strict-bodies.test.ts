import { expect, test } from 'vitest'
import { readApi } from '../support/api-document.ts'
import { problemOf } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { type Schema, sample } from './rude/requests.ts'

type Place = (string | number)[]

/** Every member of a body that has a type of its own, and some valid body around it. */
function placesOf(schema: Schema, place: Place = []): { place: Place; schema: Schema }[] {
  if (schema.anyOf) return schema.anyOf.flatMap((one) => placesOf(one, place))
  if (schema.type === 'object')
    return Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      placesOf(member, [...place, name]),
    )
  if (schema.type === 'array') return placesOf(schema.items ?? {}, [...place, 0])
  return [{ place, schema }]
}

/** The value with another one at the place; what is missing on the way there is made. */
function withAt(value: unknown, [step, ...rest]: Place, put: unknown): unknown {
  if (step === undefined) return put
  if (typeof step === 'number') return [withAt((value as unknown[] | undefined)?.[0], rest, put)]
  const object = (value ?? {}) as Record<string, unknown>
  return { ...object, [step]: withAt(object[step], rest, put) }
}

/** JSON can write numbers that no number of JavaScript is. */
const HUGE = '1e999'
const toText = (body: unknown) => JSON.stringify(body).replaceAll(`"${HUGE}!"`, HUGE)

const WRONG: Record<string, unknown[]> = {
  integer: ['5', 'Infinity', HUGE, `${HUGE}!`, true, [5]],
  number: ['5', 'Infinity', HUGE, `${HUGE}!`, true, [5]],
  string: [5, `${HUGE}!`, true],
  boolean: ['true', 1, `${HUGE}!`],
}
const UNTYPED = [`${HUGE}!`, { a: [`${HUGE}!`] }, 'a\u0000b']

test('no body is bent into shape: a number as a text, a text as a number or 1e999 is refused everywhere', async () => {
  const wharf = await startHttp()
  const { key } = await newProject(wharf)
  const { paths } = await readApi(wharf)
  const tried: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const schema = requestBody && Object.values(requestBody.content)[0]?.schema
      if (!schema) continue
      const at = path.replaceAll(/\{[^}]+\}/g, 'unknown')
      const whole = sample(schema, () => undefined)
      for (const { place, schema: member } of placesOf(schema)) {
        if (member.type === 'null') continue
        for (const wrong of WRONG[member.type ?? ''] ?? (member.const || member.enum ? [5] : UNTYPED)) {
          const body = toText(withAt(whole, place, wrong))
          const ask = (asked: string) => wharf.ask(method.toUpperCase(), at, { key: asked, body })
          const first = await ask(ADMIN_TOKEN)
          const answer = first.status === 403 ? await ask(key) : first
          const what = `${method} ${path} ${body}`
          expect(answer.status, what).toBe(400)
          expect((await problemOf(answer)).code, what).toBe('REQUEST_INVALID')
          tried.push(what)
        }
      }
    }
  }
  expect(tried.length).toBeGreaterThan(100)
})

test('every whole number of a request has a largest value that is still exact', async () => {
  const { paths } = await readApi(await startHttp())
  const loose = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody, parameters = [] }]) => {
      const body = requestBody && Object.values(requestBody.content)[0]?.schema
      const schemas = [body, ...parameters.map(({ schema }) => schema)].filter(
        (schema) => schema !== undefined,
      )
      return schemas
        .flatMap((schema) => placesOf(schema))
        .filter(({ schema: { type, maximum = Number.POSITIVE_INFINITY } }) => {
          return type === 'integer' && maximum > Number.MAX_SAFE_INTEGER
        })
        .map(({ place }) => `${method} ${path} ${place.join('.')}`)
    }),
  )
  expect(loose).toEqual([])
})

test('a number in a query may be written as text, but must be one', async () => {
  const { ask } = await startHttp()
  const list = (query: string) => ask('GET', `/api/transfer-jobs?${query}`, { key: ADMIN_TOKEN })
  expect((await list('limit=5')).status).toBe(200)
  for (const limit of ['1e999', 'Infinity', 'NaN', '', '5x'])
    expect((await list(`limit=${limit}`)).status, limit).toBe(400)
  for (const after of ['1e999', '1e300', '9999999999999999999'])
    expect((await ask('GET', `/api/events?after=${after}`, { key: ADMIN_TOKEN })).status).toBe(400)
})

test('a body that is nested without end, and a NUL anywhere, are refused', async () => {
  const wharf = await startHttp()
  const { key } = await newProject(wharf)
  const deep = `{"source_url":"http://127.0.0.1:9/","template":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const refused = [
    wharf.ask('POST', '/api/exports', { key, body: deep }),
    wharf.ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'a\u0000b' } }),
    wharf.ask('GET', '/api/exports/a%00b', { key }),
    wharf.ask('GET', '/api/repository?prefix=a%00b', { key }),
    wharf.ask('PUT', '/api/repository/a%00b', { key, body: 'x' }),
  ]
  for (const answer of await Promise.all(refused)) {
    expect(answer.status, answer.url).toBe(400)
    await problemOf(answer)
  }
})
