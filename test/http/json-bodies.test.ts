import { expect, test } from 'vitest'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'

const UMLAUT = { latin1: Buffer.from('M\u00fcller', 'latin1'), utf8: Buffer.from('M\u00fcller') }

async function setup() {
  const { address } = await startHttp()
  const post = async (path: string, body: Buffer, headers: Record<string, string> = {}) => {
    const answer = await fetch(address + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', ...headers },
      body: new Uint8Array(body),
    })
    return { status: answer.status, said: (await answer.json()) as Record<string, unknown> }
  }
  const named = (name: Buffer) => Buffer.concat([Buffer.from('{"name":"'), name, Buffer.from('"}')])
  return { post, named }
}

test.for(['/api/projects', '/api/exports', '/api/exports/preview'])(
  'a body that is not UTF-8 is refused in place of its letters being changed: %s',
  async (path) => {
    const { post, named } = await setup()
    const refused = {
      status: 400,
      said: { code: 'BODY_NOT_JSON', detail: expect.stringContaining('not UTF-8') },
    }
    expect(await post(path, named(UMLAUT.latin1))).toMatchObject(refused)
    expect(await post(path, named(Buffer.from([0xff, 0xfe])))).toMatchObject(refused)
  },
)

test('a name is kept letter for letter, with a byte order mark before it or not', async () => {
  const { post, named } = await setup()
  const bom = Buffer.from([0xef, 0xbb, 0xbf])
  for (const body of [named(UMLAUT.utf8), Buffer.concat([bom, named(UMLAUT.utf8)])])
    for (const type of [
      'application/json',
      'application/json; charset=UTF-8',
      'application/json;charset="utf-8"',
    ])
      expect(await post('/api/projects', body, { 'content-type': type })).toMatchObject({ status: 201 })
})

test('another charset, and a body that is packed, are refused by name', async () => {
  const { post, named } = await setup()
  for (const headers of [
    { 'content-type': 'application/json; charset=iso-8859-1' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'br' },
  ])
    for (const path of ['/api/projects', '/api/exports']) {
      const { status, said } = await post(path, named(UMLAUT.utf8), headers as Record<string, string>)
      const value = Object.values(headers)[0]?.replace(/.*=/, '')
      expect([status, said.code, said.detail]).toEqual([
        415,
        'MEDIA_TYPE_UNSUPPORTED',
        expect.stringContaining(value ?? ''),
      ])
    }
})
