import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { BusinessSystem, type Source } from '../support/business-system.ts'
import { sha256 } from '../support/export-client.ts'
import { startExportProcess } from '../support/export-process.ts'
import { S3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'

/** Several of these are longer than the time between two notes of what is safe. */
const PAGE_MS = 200

/** A source that answers page by page, as the test lets it: so a fetch can be caught in the middle. */
async function heldSource(total: number) {
  const business = await BusinessSystem.start()
  const source = business.source({
    total,
    row: (n) => ({ id: n, name: `行 ${n}`, note: 'x'.repeat(n % 50) }),
  })
  source.holdFrom(0)
  return source
}

/** Lets pages go slowly enough for some to be noted as safe, and no more once they are. */
async function untilSafe(source: Source, server: { safePages(): number }): Promise<void> {
  await until('pages are safe on disk', async () => {
    source.releaseOne()
    await systemClock.sleep(PAGE_MS)
    return server.safePages() >= 3
  })
  // What it asks for next has arrived: nothing is on its way when it is killed.
  await source.untilHeld()
}

test('killed while fetching, a server goes on from the last whole page and makes the same file', async () => {
  const source = await heldSource(2_450)
  const server = await startExportProcess()
  const client = await server.newClient()
  const body = { source_url: source.url, page_size: 100, file_name: 'all' }
  const { task_id } = await client.start(body)
  await untilSafe(source, server)
  await server.kill()
  source.release()
  const safe = server.safePages()
  const asked = source.pages.length
  expect(asked).toBeLessThan(25)
  await server.start()
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'succeeded', file: { rows: 2_450 }, warnings: [] })
  expect(server.logged('fetching pages')[0]).toMatchObject({ resumed: true, fetched: safe * 100 })
  expect(source.pages.slice(asked)).toEqual(Array.from({ length: 25 - safe }, (_, index) => safe + index))
  const whole = await client.run(body)
  expect(whole.file?.sha256).toBe(view.file?.sha256)
  expect(sha256(await client.bytes(task_id))).toBe(view.file?.sha256)
})

test('killed while fetching, a server starts anew when the total has changed, and says so', async () => {
  const source = await heldSource(2_450)
  const server = await startExportProcess()
  const client = await server.newClient()
  const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
  await untilSafe(source, server)
  await server.kill()
  source.release()
  source.total = 350
  const asked = source.pages.length
  await server.start()
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'succeeded', file: { rows: 350 } })
  expect(view.warnings).toEqual([expect.stringMatching(/started anew.*2450 to 350/)])
  expect(source.pages.slice(asked)).toEqual([0, 1, 2, 3])
})

test('killed while building, a server builds again from what it has fetched', async () => {
  const business = await BusinessSystem.start()
  const text = 'text that takes some time to be written '.repeat(5)
  const source = business.source({
    total: 20_000,
    row: (n) => ({ id: n, a: `${n} ${text}`, b: text, c: n / 7, d: text }),
  })
  const server = await startExportProcess()
  const client = await server.newClient()
  const body = { source_url: source.url, page_size: 1000, type: 'excel', fresh: true }
  // A kill that comes after the file was built says nothing: another one is tried.
  let task_id = ''
  for (let built = true; built; built = !server.builds()) {
    if (task_id !== '') {
      await server.start()
      await client.ended(task_id)
    }
    source.pulls.length = 0
    task_id = (await client.start(body)).task_id
    await until('the file is being built', () => server.builds())
    await server.kill()
  }
  const asked = source.pages.length
  expect(asked).toBe(20)
  await server.start()
  expect(await client.ended(task_id)).toMatchObject({
    status: 'succeeded',
    file: { rows: 20_000 },
    warnings: [],
  })
  expect(source.pages).toHaveLength(asked)
  expect(source.probes).toBe(2)
})

test('killed while uploading, a server uploads again, and readers never see half a file', async () => {
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const business = await BusinessSystem.start()
  const source = business.source({ total: 250 })
  const server = await startExportProcess({
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  })
  const client = await server.newClient()
  s3.fault = (operation) => (operation === 'PutObject' || operation === 'UploadPart' ? 'silence' : undefined)
  const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
  await until('the upload has begun', () => s3.seen.includes('PutObject') || s3.seen.includes('UploadPart'))
  await until('the task says so', async () => (await client.task(task_id)).stage === 'uploading')
  expect((await client.get(task_id, '/file')).status).toBe(409)
  await server.kill()
  s3.fault = () => undefined
  const asked = source.pages.length
  await server.start()
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'succeeded', warnings: [] })
  expect(source.pages).toHaveLength(asked)
  expect(sha256(await client.bytes(task_id))).toBe(view.file?.sha256)
})
