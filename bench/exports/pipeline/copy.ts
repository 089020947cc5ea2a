// node copy.ts URL PAGES CONNECTIONS TARGET: fetches the same pages over as many connections and writes them to a file as
// they are. Whatever makes something of the pages can hardly be faster than this.
import { open } from 'node:fs/promises'
import { Pool } from 'undici'

const [address = '', pages = '0', connections = '1', target = ''] = process.argv.slice(2)
const url = new URL(address)
const pool = new Pool(url.origin, { connections: Number(connections), pipelining: 1 })
const file = await open(target, 'w')
await Promise.all(
  Array.from({ length: Number(connections) }, async (_, part) => {
    const [from, to] = [part, part + 1].map((n) => Math.floor((n * Number(pages)) / Number(connections)))
    for (let page = from!; page < to!; page++) {
      const path = `${url.pathname}${url.search}&page=${page}&page_size=1000`
      const { body } = await pool.request({ path, method: 'GET' })
      await file.write(Buffer.from(await body.arrayBuffer()))
    }
  }),
)
await file.close()
await pool.close()
