import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { ExportClient, startExports } from '../support/export-client.ts'
import { startHttp } from '../support/http.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const HOUR = 3_600_000
const scaledOut = test.runIf(availableBackends().length > 1)

/** An instance's clock that goes wrong by this much. */
const off = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms })

scaledOut('tickets, links and callbacks are good on every instance, whatever its clock says', async () => {
  const first = await startExports('postgres + redis')
  const { business, client } = first
  const others = await Promise.all(
    [2 * HOUR, -2 * HOUR].map((ms) =>
      startHttp('postgres + redis', {
        backend: first.backend,
        clock: off(ms),
        env: { WHARF_DATA_DIR: temporaryFolder() },
      }),
    ),
  )
  const receiver = business.receiver()
  const { task_id } = await client.run({
    source_url: business.source({ total: 3 }).url,
    callback: receiver.url,
  })
  for (const { ask: issuing } of [first, ...others]) {
    const issuer = new ExportClient(issuing, client.project)
    const answer = await issuer.ask('POST', `/api/exports/${task_id}/ticket`, { key: client.project.key })
    const { ticket, expires_at } = (await answer.json()) as { ticket: string; expires_at: string }
    expect(Math.abs(Date.parse(expires_at) - HOUR - Date.now())).toBeLessThan(HOUR / 2)
    const link = new URL((await issuer.task(task_id)).download_url ?? '')
    for (const { ask } of [first, ...others]) {
      expect((await ask('GET', `/api/exports/${task_id}?ticket=${ticket}`)).status).toBe(200)
      expect((await ask('GET', `${link.pathname}${link.search}`)).status).toBe(200)
    }
  }
  const { headers } = await receiver.call()
  expect(Math.abs(Number(headers['webhook-timestamp']) * 1000 - Date.now())).toBeLessThan(HOUR / 2)
})
