import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Membership, type MembershipOptions } from '../../src/jobs/membership.ts'
import { newId, systemClock } from '../../src/kernel/index.ts'
import { availableBackends, type BackendName, openBackend, silentLog } from '../support/backends.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const LEASE_MS = 600_000

const S3 = 'the bucket files at http://s3'

async function setup(name: BackendName) {
  const backend = await openBackend(name)
  const ledger = await backend.openLedger()
  onTestFinished(async () => {
    await ledger.close()
    await backend.remove()
  })
  const make = (options: Partial<MembershipOptions> = {}) => {
    const instance = newId()
    const member = new Membership(
      { ledger, clock: systemClock, log: silentLog, instance, version: 'test', leaseMs: LEASE_MS },
      { dataDir: temporaryFolder(), store: null, sharedDir: null, ...options },
    )
    return Object.assign(member, { instance })
  }
  const present = async () =>
    (await ledger.db.selectFrom('instances').select('id').execute()).map(({ id }) => id)
  return { ledger, make, present }
}

const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'FILES_NOT_SHARED', message: expect.stringMatching(message) })

describe.each(availableBackends())('on %s', (name) => {
  test('a lone instance needs nothing, and one that left is no other', async () => {
    const { make, present } = await setup(name)
    const first = make()
    await first.join()
    await first.leave()
    await make().join()
    expect(await present()).toHaveLength(1)
  })

  test('a second one with a data dir of its own is refused, and leaves nothing behind', async () => {
    const { make, present } = await setup(name)
    const first = make()
    await first.join()
    await expect(make().join()).rejects.toThrow(refused(/WHARF_SHARED_DIR .*or S3_BUCKET/))
    expect(await present()).toEqual([first.instance])
  })

  test('one that may only run alone is refused beside another, and not by its own predecessor', async () => {
    const { make, present } = await setup(name)
    const sharedDir = temporaryFolder()
    const dataDir = temporaryFolder()
    const first = make({ sharedDir, dataDir })
    await first.join()
    await expect(make({ sharedDir, sole: true }).join()).rejects.toMatchObject({
      code: 'SINGLE_INSTANCE',
      message: expect.stringContaining('set the same REDIS_URL on each of them'),
    })
    expect(await present()).toEqual([first.instance])
    await make({ sharedDir, dataDir, sole: true }).join()
  })

  test('of two that start together one is let in', async () => {
    const { make, present } = await setup(name)
    const ends = await Promise.allSettled([make().join(), make().join(), make().join()])
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await present()).toHaveLength(1)
  })

  test('one that was killed and comes back on its data dir is its own predecessor', async () => {
    const { make } = await setup(name)
    const dataDir = temporaryFolder()
    await make({ dataDir }).join()
    await make({ dataDir }).join()
  })

  test('one whose lease has run out, or that is older than this question, is not in the way', async () => {
    const { ledger, make } = await setup(name)
    await make().join()
    const seen_at = (await ledger.now()) - LEASE_MS
    await ledger.db.updateTable('instances').set({ seen_at }).execute()
    const second = make()
    await second.join()
    await ledger.db.updateTable('instances').set({ home: null }).execute()
    await make().join()
  })

  test('a folder that both see lets both in, and markers go with their instances', async () => {
    const { make } = await setup(name)
    const sharedDir = temporaryFolder()
    const [first, second] = [make({ sharedDir }), make({ sharedDir })]
    await first.join()
    await second.join()
    const markers = join(sharedDir, 'instances')
    expect(readdirSync(markers).sort()).toEqual([first.instance, second.instance].sort())
    await second.leave()
    expect(readdirSync(markers)).toEqual([first.instance])
  })

  test('a folder that is not the same one is found out', async () => {
    const { make, present } = await setup(name)
    const first = make({ sharedDir: temporaryFolder() })
    await first.join()
    const sharedDir = temporaryFolder()
    await expect(make({ sharedDir }).join()).rejects.toThrow(refused(/its marker is not in/))
    // Not even a file of the right name will do.
    writeFileSync(join(sharedDir, 'instances', first.instance), 'made up\n')
    await expect(make({ sharedDir }).join()).rejects.toThrow(refused(/its marker is not in/))
    expect(await present()).toEqual([first.instance])
    expect(readdirSync(join(sharedDir, 'instances'))).toEqual([first.instance])
  })

  test('the same bucket lets both in; another one, or none, does not', async () => {
    const { make } = await setup(name)
    await make({ store: S3 }).join()
    await make({ store: S3 }).join()
    await expect(make({ store: 'the bucket other at http://s3' }).join()).rejects.toThrow(
      refused(/the bucket files at http:\/\/s3, this one in the bucket other/),
    )
    await expect(make({ sharedDir: temporaryFolder() }).join()).rejects.toThrow(
      refused(/this one in a folder/),
    )
    await expect(make({ store: S3, sharedDir: temporaryFolder() }).join()).rejects.toThrow(
      refused(/without WHARF_SHARED_DIR, this one with it/),
    )
  })

  test('markers of instances that nobody remembers are removed in time', async () => {
    const { make } = await setup(name)
    const sharedDir = temporaryFolder()
    const [old, fresh] = ['old', 'fresh'].map((marker) => join(sharedDir, 'instances', marker))
    mkdirSync(join(sharedDir, 'instances'))
    for (const path of [old, fresh]) writeFileSync(path as string, 'x')
    utimesSync(old as string, 1, 1)
    await make({ sharedDir }).join()
    expect([old, fresh].map((path) => existsSync(path as string))).toEqual([false, true])
  })
})
