// A feed of small files on a free loopback port, as a process of its own: `node feed-process.ts COUNT`. It prints its
// address once it listens and ends with its parent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const PAGE = 1_000
const count = Number(process.argv[2])
const largest = Buffer.alloc(16_384, 'wharf ')

/** 1 to 16 KiB, the same for the same number every time. */
function sizeOf(index: number): number {
  return 1_024 + ((index * 2_654_435_761) % 15_360)
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://feed')
  if (url.pathname !== '/feed') {
    const body = largest.subarray(0, sizeOf(Number(url.pathname.slice(1))))
    response.writeHead(200, { 'content-length': body.length }).end(body)
    return
  }
  const from = Number(url.searchParams.get('cursor') ?? 0)
  const to = Math.min(count, from + PAGE)
  const items = []
  for (let index = from; index < to; index++)
    items.push({ id: String(index), url: `/${index}`, name: `${index}.bin`, size: sizeOf(index) })
  response.end(JSON.stringify({ items, next_cursor: to < count ? String(to) : null }))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  let bytes = 0
  for (let index = 0; index < count; index++) bytes += sizeOf(index)
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, bytes }))
})
process.stdin.on('end', () => process.exit(0)).resume()
