import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { fetchToSpool } from '../../../src/exports/source/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { temporaryFolder, textOf } from './fetch-setup.ts'
import { loopbackSource } from './loopback-source.ts'
import { pageOf, sampleRows, spoolText } from './memory-source.ts'

test('a process killed in mid-fetch loses no page and doubles none', async () => {
  const rows = sampleRows(6_000)
  const reached = Promise.withResolvers<void>()
  let killed = false
  const source = await loopbackSource(async (asked) => {
    // Page 40 is never answered to the process that will be killed.
    if (asked.page === 40 && !killed) return reached.resolve()
    asked.response.end(JSON.stringify({ total: 6_000, data: pageOf(rows, asked) }))
  })
  const directory = await temporaryFolder()
  const child = spawn(
    process.execPath,
    [new URL('./fetch-child.ts', import.meta.url).pathname, source.url, directory],
    { stdio: 'inherit' },
  )
  const ended = once(child, 'exit')
  await Promise.race([
    reached.promise,
    ended.then(() => {
      throw new Error('the process ended before it could be killed')
    }),
  ])
  child.kill('SIGKILL')
  await ended
  killed = true
  const spool = await fetchToSpool(
    { source, clock: systemClock },
    {
      directory,
      columnsOf: () => ({ fields: ['id', 'name', 'amount'] }),
      pageSize: 100,
      signal: AbortSignal.timeout(30_000),
    },
  )
  expect(spool.resumed.resumed).toBe(true)
  expect(textOf(spool)).toBe(spoolText(rows))
})
