import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface FeedFile {
  id: string
  body: Buffer
  name?: string
  type?: string
  created_at?: string
  /** What the feed claims; the real size when missing, nothing when null. */
  size?: number | null
  /** Answers in place of the server; returns false to let it answer after all. */
  fault?: ((request: IncomingMessage, response: ServerResponse, attempt: number) => boolean) | undefined
  /** No ranges, no validators. */
  plain?: boolean
}

interface FeedRequest {
  path: string
  range: string | undefined
}

/** A feed and its files on one real loopback server that lives as long as the test. */
export async function startFeed(files: FeedFile[], { pageSize = 100 }: { pageSize?: number } = {}) {
  const requests: FeedRequest[] = []
  const attempts = new Map<string, number>()
  let onPage: (page: number, response: ServerResponse) => boolean | Promise<boolean> = () => false
  const byId = new Map(files.map((file) => [file.id, file]))
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://feed')
      requests.push({ path: url.pathname + url.search, range: request.headers.range })
      if (url.pathname === '/feed') {
        const page = Number(url.searchParams.get('cursor') ?? 0)
        if (await onPage(page, response)) return
        sendPage(response, page)
        return
      }
      const file = byId.get(decodeURIComponent(url.pathname.slice('/file/'.length)))
      if (!file) return void response.writeHead(404).end()
      const attempt = (attempts.get(file.id) ?? 0) + 1
      attempts.set(file.id, attempt)
      if (!file.fault?.(request, response, attempt)) sendFile(request, response, file)
    })()
  })
  const sendPage = (response: ServerResponse, page: number) => {
    const from = page * pageSize
    const items = files.slice(from, from + pageSize).map(({ id, name, type, created_at, size, body }) => ({
      id,
      url: `/file/${encodeURIComponent(id)}`,
      ...(name !== undefined && { name }),
      ...(type !== undefined && { type }),
      ...(created_at !== undefined && { created_at }),
      ...(size !== null && { size: size ?? body.length }),
    }))
    const next_cursor = from + pageSize < files.length ? String(page + 1) : null
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ items, next_cursor }))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/feed?of=tests`,
    requests,
    files,
    /** How often a file was asked for. */
    attempts: (id: string) => attempts.get(id) ?? 0,
    /** Answers pages in place of the server; returns false to let it answer after all. */
    answerPages(answer: typeof onPage) {
      onPage = answer
    },
    sendPage,
  }
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: FeedFile): void {
  const { body, plain } = file
  const tag = tagOf(file)
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
  const condition = request.headers['if-range']
  if (plain || Number.isNaN(start) || (condition !== undefined && condition !== tag)) {
    response.writeHead(200, { 'content-length': body.length, ...(!plain && { etag: tag }) }).end(body)
  } else if (start >= body.length) {
    response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end()
  } else {
    const rest = body.subarray(start)
    const range = `bytes ${start}-${body.length - 1}/${body.length}`
    response.writeHead(206, { 'content-length': rest.length, 'content-range': range, etag: tag }).end(rest)
  }
}

export function tagOf({ body }: { body: Buffer }): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
}

/** Bytes that differ from file to file and from one place to another. */
export function bodyOf(id: string, size: number): Buffer {
  const seed = createHash('sha256').update(id).digest()
  const body = Buffer.alloc(size)
  for (let at = 0; at < size; at++) body[at] = (seed[at % 32] ?? 0) ^ (at >> 5) ^ (at & 0xff)
  return body
}
