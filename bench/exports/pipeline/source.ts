// node source.ts: a source on a free port of loopback, which it prints. `?rows=N` says how many rows there are. Pages are
// made beforehand and repeat themselves, so that the source is never what is slow; blanks make each of them another. With
// `&unique=1` each row has an id of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { orderRow } from '../order-rows.ts'

export const PAGE_ROWS = 1_000
const PAGES = 20

const pages = Array.from({ length: PAGES }, (_, page) =>
  Buffer.from(
    JSON.stringify(Array.from({ length: PAGE_ROWS }, (_, index) => orderRow(page * PAGE_ROWS + index))).slice(
      1,
    ),
  ),
)
/** All of a row but its id. */
const tails = Array.from({ length: PAGE_ROWS * PAGES }, (_, index) =>
  JSON.stringify(orderRow(index)).replace(/^\{"id":\d+/, ''),
)
const first = Buffer.from(`${JSON.stringify(orderRow(0))}]`)

/** The page's number, in blanks. */
function blanks(page: number): string {
  return page.toString(2).padStart(16, '0').replaceAll('0', ' ').replaceAll('1', '\t')
}

function uniqueRows(page: number): Buffer {
  let text = ''
  for (let row = 0; row < PAGE_ROWS; row++) {
    const id = page * PAGE_ROWS + row
    text += `${text && ','}{"id":${id}${tails[id % tails.length]}`
  }
  return Buffer.from(`${text}]`)
}

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams
  const [rows, page, pageSize] = ['rows', 'page', 'page_size'].map((name) => Number(query.get(name)))
  const rowsOf = (page: number) => (query.has('unique') ? uniqueRows(page) : pages[page % PAGES]!)
  const data = pageSize === 1 ? first : rowsOf(page!)
  const head = Buffer.from(`{"total":${rows},"data":[${blanks(page!)}`)
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', head.length + data.length + 1)
  response.write(head)
  response.write(data)
  response.end('}')
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
