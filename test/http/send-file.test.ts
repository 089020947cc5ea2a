import { Readable } from 'node:stream'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { sendFile } from '../../src/http/answers/index.ts'

const FACTS = { etag: '"a"', modifiedAt: 0, contentType: 'text/plain', range: null }

/** A server of one file that announces `size` bytes, and whose store then has others. */
async function setup(chunks: string[], { size, found = size }: { size: number; found?: number }) {
  const app = fastify()
  app.get('/', (request, reply) =>
    sendFile(request, reply, {
      open: async () => ({
        ...FACTS,
        size: found,
        stream: Readable.from(chunks.map((text) => Buffer.from(text))),
      }),
      domain: 'exports',
      fileName: 'a.txt',
      size,
    }),
  )
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

test.each([
  ['cut', ['1234', '5678'], 10],
  ['empty', [], 10],
])(
  'a file that is %s while it is sent ends the connection at once, and is no whole file',
  async (_, chunks, size) => {
    const address = await setup(chunks, { size })
    const answer = await fetch(address)
      .then((response) => response.text())
      .then(
        () => 'whole',
        () => 'broken off',
      )
    expect(answer).toBe('broken off')
  },
)

test('a file of another size than was recorded is not begun', async () => {
  const address = await setup(['1234'], { size: 10, found: 4 })
  const answer = await fetch(address)
  expect(answer.status).toBe(500)
  expect(await answer.text()).toContain('4 bytes, and had 10')
})
