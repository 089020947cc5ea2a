import { describe, expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { problemOf, startExports } from '../support/export-client.ts'
import { FastClock } from '../support/fast-clock.ts'
import { type S3Fault, S3Server } from '../support/s3-server.ts'
import { fillDisk, smallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

async function setup(env: Record<string, string> = {}, clock: Clock = systemClock) {
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const bundle = await startExports('embedded', {
    clock,
    env: {
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      ...env,
    },
  })
  return { ...bundle, s3 }
}

test.each<[string, S3Fault]>([
  ['away', 'cut'],
  ['broken', { status: 503, code: 'ServiceUnavailable' }],
])('exports wait for a store that is %s, and lose neither an attempt nor a page', async (_, fault) => {
  const { business, client, s3 } = await setup({ WHARF_EXPORT_CONCURRENCY: '24' })
  s3.fault = () => fault
  const exports = await Promise.all(
    Array.from({ length: 24 }, async () => {
      const source = business.source({ total: 250 })
      const receiver = business.receiver()
      const { task_id } = await client.start({
        source_url: source.url,
        page_size: 100,
        callback: receiver.url,
      })
      return { source, receiver, task_id }
    }),
  )
  for (const { task_id } of exports)
    await until('it waits', async () => {
      const view = await client.task(task_id)
      expect(view.finished_at).toBeNull()
      return view.waiting_for?.what === 'store' && view.attempts === 0 && view.status === 'pending'
    })
  const events = await client.items<{ waiting_for?: unknown }>(exports[0]?.task_id ?? '', 'events')
  expect(events.find(({ waiting_for }) => waiting_for)).toMatchObject({
    status: 'pending',
    waiting_for: { what: 'store', code: 'STORAGE_UNAVAILABLE' },
  })
  s3.fault = () => undefined
  for (const { task_id, source, receiver } of exports) {
    expect(await client.ended(task_id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      error: null,
      waiting_for: null,
      warnings: [],
    })
    expect((await receiver.call()).body.type).toBe('export.succeeded')
    expect(source.pages.toSorted()).toEqual([0, 1, 2])
  }
  for (const { receiver } of exports) expect(receiver.calls).toHaveLength(1)
})

test.each<S3Fault & object>([
  { status: 403, code: 'AccessDenied' },
  { status: 404, code: 'NoSuchBucket' },
])('a store that answers %j has been set up wrongly: the export fails after its attempts', async (fault) => {
  const { business, client, s3 } = await setup({}, new FastClock(5))
  s3.fault = () => fault
  const { task_id } = await client.start({ source_url: business.source({ total: 10 }).url })
  expect(await client.ended(task_id)).toMatchObject({
    status: 'failed',
    attempts: 3,
    error: { code: 'STORAGE_DENIED', message: expect.stringContaining(fault.code) },
    waiting_for: null,
  })
})

describe.each(availableBackends())('a full disk on %s', (name) => {
  test.each(['csv', 'excel'])('makes an export (%s) wait until there is room', async (type) => {
    const folder = smallDisk(16)
    if (!folder) return console.warn('skipped: needs the right to mount a small tmpfs')
    const { business, client } = await startExports(name, {
      env: { WHARF_DATA_DIR: folder },
    })
    // Not to be compressed: the built file is nearly as large as what was fetched.
    const source = business.source({ total: 2_000, row: (n) => ({ n, text: noise(n) }) })
    // More than what counts as full: the request itself is to be accepted.
    const makeRoom = fillDisk(folder, type === 'csv' ? 1_500_000 : 3_000_000)
    const { task_id } = await client.start({ source_url: source.url, page_size: 100, type })
    // The embedded ledger is on the full disk too, and cannot write down what it waits for.
    if (name !== 'embedded')
      await until('it waits for room', async () => {
        const { waiting_for } = await client.task(task_id)
        return waiting_for?.what === 'disk' && waiting_for.code === 'STORAGE_FULL'
      })
    else await until('pages came', () => source.pages.length > 3)
    makeRoom()
    expect(await client.ended(task_id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      file: { rows: 2_000 },
    })
  })
})

test('a preview on a full disk says that it is full, and nothing of the source', async ({ skip }) => {
  const folder = smallDisk(16)
  if (!folder) return skip('no disk of its own can be mounted here')
  const { business, client } = await startExports('embedded', { env: { WHARF_DATA_DIR: folder } })
  // The request is accepted, and its rows find no room.
  fillDisk(folder, 1_500_000)
  const source = business.source({ total: 20, row: (n) => ({ n, text: 'x'.repeat(200_000) }) })
  const body = { source_url: source.url }
  const asked = client.ask('POST', '/api/exports/preview', { key: client.project.key, body })
  expect(await problemOf(asked)).toMatchObject({ status: 507, code: 'STORAGE_FULL' })
})

test('an export that is larger than the disk of an embedded ledger can be cancelled, and others go on', async ({
  skip,
}) => {
  const folder = smallDisk(16)
  if (!folder) return skip('no disk of its own can be mounted here')
  const { wharf, business, client } = await startExports('embedded', { env: { WHARF_DATA_DIR: folder } })
  const source = business.source({ total: 40_000, row: (n) => ({ n, text: noise(n) }) })
  const { task_id } = await client.start({ source_url: source.url, page_size: 1_000 })
  await until('it has fetched more than there is room for, twice', () => source.pages.length > 32)
  await until(
    'it is cancelled',
    async () => (await wharf.ask('DELETE', `/api/exports/${task_id}`, { key: client.project.key })).ok,
  )
  await until('it has ended', async () => (await client.task(task_id)).status === 'cancelled')
  const small = { source_url: business.source({ total: 10 }).url }
  const next = await until('another is taken', async () => {
    const answer = await client.post(small)
    return answer.status === 202 && ((await answer.json()) as { task_id: string })
  })
  expect(await client.ended(next.task_id)).toMatchObject({ status: 'succeeded', file: { rows: 10 } })
})

function noise(seed: number): string {
  let state = seed + 1
  let text = ''
  while (text.length < 1_000) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += state.toString(36)
  }
  return text
}
