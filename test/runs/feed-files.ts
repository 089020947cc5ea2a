import type { IncomingMessage, ServerResponse } from 'node:http'
import { gate } from '../support/engines.ts'
import { bodyOf, type FeedFile, startFeed, tagOf } from './feed-server.ts'

export function makeFiles(count: number, size = 100): FeedFile[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `f${index}`
    return { id, name: `${id}.bin`, body: bodyOf(id, size + (index % 50)) }
  })
}

/** Six files come, then three hang in the middle, each with some bytes on the disk. */
export async function feedThatHangs() {
  const all = makeFiles(20)
  const reached = gate()
  let hanging = 0
  for (const file of all.slice(6, 9)) {
    file.fault = (_request, response) => {
      response.writeHead(200, { 'content-length': file.body.length }).write(file.body.subarray(0, 10))
      if (++hanging === 3) reached.open()
      return true
    }
  }
  return { feed: await startFeed(all, { pageSize: 4 }), reached, done: all.slice(0, 6) }
}

export function cutAfter(
  _request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  bytes: number,
): boolean {
  response.writeHead(200, { 'content-length': body.length, etag: tagOf({ body }) })
  response.write(body.subarray(0, bytes), () => setImmediate(() => response.destroy()))
  return true
}

export function sum(files: FeedFile[]): number {
  return files.reduce((total, { body }) => total + body.length, 0)
}

export function contents(files: FeedFile[]): Map<string, Buffer> {
  return new Map(files.map(({ id, name, body }) => [name ?? id, body]))
}
