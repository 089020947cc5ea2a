import { Agent } from 'undici'
import { ThreadPool } from '../../../../src/exports/index.ts'
import { fetchToSpool } from '../../../../src/exports/sources/index.ts'
import { systemClock } from '../../../../src/kernel/index.ts'
import { httpSource } from './http-source.ts'

/** A process of its own that fetches, so that a test can kill it: `fetch-child.ts URL FOLDER [threads]`. */
const [url = '', directory = '', how] = process.argv.slice(2)
const dispatcher = new Agent()
const threads = new ThreadPool()
await fetchToSpool(
  { source: httpSource(url, dispatcher), clock: systemClock, ...(how === 'threads' && { threads }) },
  {
    directory,
    columnsOf: () => ({ fields: ['id', 'name', 'amount'] }),
    pageSize: 100,
    signal: new AbortController().signal,
    checkpointEveryMs: 1,
  },
)
await Promise.all([dispatcher.close(), threads.close()])
