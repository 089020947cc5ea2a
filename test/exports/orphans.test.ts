import { describe, expect, onTestFinished, test } from 'vitest'
import { ExportArtifacts, exportKey } from '../../src/exports/pipeline/index.ts'
import type { JobState } from '../../src/jobs/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { now } from '../../src/ledger/index.ts'
import { type ArtifactStore, DiskStore, OrphanSweeper } from '../../src/storage/index.ts'
import { S3Store } from '../../src/storage/s3/s3-store.ts'
import { chunks } from '../storage/artifact-store.contract.ts'
import { availableBackends, type BackendName, openBackend, silentLog } from '../support/backends.ts'
import { S3Server } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const { signal } = new AbortController()
const CSV = { contentType: 'text/csv' }

async function openS3() {
  const server = await S3Server.start()
  onTestFinished(() => server.stop())
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server
  const days = 2 * 24 * 3_600_000
  const store = new S3Store(
    { clock: { ...systemClock, now: () => Date.now() + days } },
    { endpoint, region, bucket, accessKeyId, secretAccessKey },
  )
  onTestFinished(() => store.close())
  return { store, server }
}

const STORES: Record<string, () => Promise<ArtifactStore>> = {
  'on disk': () => DiskStore.open({}, { root: temporaryFolder() }),
  'in S3': async () => (await openS3()).store,
}

async function setup(name: BackendName, store: ArtifactStore) {
  const backend = await openBackend(name)
  const ledger = await backend.openLedger()
  onTestFinished(async () => {
    await ledger.close()
    await backend.remove()
  })
  const job = async (id: string, state: JobState, fence: number) => {
    await ledger.db
      .insertInto('jobs')
      .values({ id, kind: 'export', payload: '{}', state, fence, due_at: 0, created_at: now })
      .execute()
  }
  const file = async (jobId: string, fence: number, removed = false) => {
    const artifact_key = exportKey({ id: jobId, fence })
    const row = { job_id: jobId, artifact_key, expires_at: 0, removed_at: removed ? 1 : null }
    await ledger.db.insertInto('export_files').values(row).execute()
  }
  const kept = async () => {
    const keys: string[] = []
    for await (const { key } of store.list('')) keys.push(key)
    return keys.sort()
  }
  // A batch of two, so that a pass has several.
  const sweeper = new OrphanSweeper(
    { store, owners: [new ExportArtifacts({ ledger })], log: silentLog },
    { batch: 2 },
  )
  return { ledger, job, file, kept, sweeper }
}

describe.each(Object.entries(STORES))('artifacts %s', (_, open) => {
  test.each(availableBackends())('what a claim that was overtaken left is swept, on %s', async (name) => {
    const store = await open()
    const { job, file, kept, sweeper } = await setup(name, store)
    const put = (id: string, fence: number) =>
      store.put(exportKey({ id, fence }), chunks(`${id} ${fence}`), CSV)
    await job('done', 'succeeded', 3)
    await file('done', 3)
    for (const fence of [1, 2, 3]) await put('done', fence)
    await job('expired', 'succeeded', 1)
    await file('expired', 1, true)
    await put('expired', 1)
    for (const state of ['failed', 'cancelled'] as const) {
      await job(state, state, 1)
      await put(state, 1)
    }
    await job('running', 'running', 2)
    for (const fence of [1, 2]) await put('running', fence)
    await job('pending', 'pending', 1)
    await put('pending', 1)
    // Of another installation in the same bucket, and of nobody we know.
    await put('stranger', 1)
    await store.put('exports/else', chunks('x'), CSV)
    await store.put('other/file', chunks('x'), CSV)
    const needed = [
      ...[exportKey({ id: 'done', fence: 3 }), exportKey({ id: 'running', fence: 2 })],
      ...[exportKey({ id: 'pending', fence: 1 }), exportKey({ id: 'stranger', fence: 1 })],
      ...['exports/else', 'other/file'],
    ].sort()
    expect(await sweeper.runOnce(signal)).toMatchObject({ orphans: 6 })
    expect(await kept()).toEqual(needed)
    expect(await sweeper.runOnce(signal)).toEqual({ orphans: 0, unfinished: 0 })
    expect(await kept()).toEqual(needed)
  })

  test('a pass that is told to stop deletes nothing more', async () => {
    const store = await open()
    const { job, kept, sweeper } = await setup('embedded', store)
    await job('failed', 'failed', 1)
    await store.put(exportKey({ id: 'failed', fence: 1 }), chunks('x'), CSV)
    expect(await sweeper.runOnce(AbortSignal.abort())).toEqual({ orphans: 0, unfinished: 0 })
    expect(await kept()).toHaveLength(1)
  })
})

test('an upload that was left open is taken back, unless its claim still holds', async () => {
  const { store, server } = await openS3()
  const { job, sweeper } = await setup('embedded', store)
  const { promise: stuck, resolve: goOn } = Promise.withResolvers<void>()
  const begin = async (id: string) => {
    await job(id, 'running', 1)
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const source = async function* () {
      yield Buffer.alloc(9 * 1024 * 1024)
      resolve()
      await stuck
    }
    const putting = store.put(exportKey({ id, fence: 1 }), source(), CSV).then(
      () => 'stored',
      () => 'failed',
    )
    await begun
    return putting
  }
  const holds = begin('holds')
  const overtaken = begin('overtaken')
  await expect.poll(() => server.uploads.size).toBe(2)
  const { ledger, ...second } = await setup('embedded', store)
  await second.job('holds', 'running', 1)
  await second.job('overtaken', 'running', 2)
  expect(await sweeper.runOnce(signal)).toEqual({ orphans: 0, unfinished: 0 })
  expect(await second.sweeper.runOnce(signal)).toEqual({ orphans: 0, unfinished: 1 })
  goOn()
  expect(await Promise.all([holds, overtaken])).toEqual(['stored', 'failed'])
})
