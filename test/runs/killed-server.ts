import { gate } from '../support/engines.ts'
import { bodyOf, type FeedFile, startFeed, tagOf } from './feed-server.ts'

export const ADMIN = 'admin-token-for-tests'

/** Forty small files, and among them a big one whose first answer stops in the middle. */
export async function feedWithABigOne() {
  const files: FeedFile[] = Array.from({ length: 40 }, (_, index) => {
    const id = `f${index}`
    return { id, body: bodyOf(id, 500 + index) }
  })
  const big: FeedFile = { id: 'big', body: bodyOf('big', 200_000) }
  const reached = gate()
  big.fault = (_request, response, attempt) => {
    if (attempt > 1) return false
    response.writeHead(200, { 'content-length': big.body.length, etag: tagOf(big) })
    response.write(big.body.subarray(0, 100_000), () => reached.open())
    return true
  }
  files.splice(20, 0, big)
  return { feed: await startFeed(files, { pageSize: 10 }), reached, big }
}

interface Answer {
  seq: number
  run_id: string
  state: string
  progress: { bytes: number; downloaded: number }
  queue: string[]
  accounts: unknown[]
}

/** Asks a server as the administrator. */
export function asker(address: string) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Answer
  }
}
