import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OrphanSweeper } from '../../src/storage/index.ts'
import { Quotas } from '../../src/tenancy/index.ts'
import { NO_QUOTAS } from '../../src/tenancy/quotas.ts'
import { Repository } from '../../src/transfers/repository/repository.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
import { loseCommit, type Moment } from '../support/lost-commit.ts'
import { bytes, setupTransfers } from '../support/transfers.ts'

const HOUR = 3_600_000
const { signal } = new AbortController()

describe.each(availableBackends())('the repository on %s', (name) => {
  async function setup() {
    const { ledger, store, clock, projectId } = await setupTransfers(name)
    const quotas = new Quotas({ ledger, clock }, NO_QUOTAS)
    const repository = new Repository(
      { ledger, store, clock, quotas },
      { maxBytes: 100, keepSupersededMs: HOUR },
    )
    const put = async (content: string) =>
      (await repository.put(projectId, '/a/f', bytes(Buffer.from(content)), signal)).signature
    const kept = async () => {
      const keys: string[] = []
      for await (const { key } of store.list('repository/')) keys.push(key)
      return keys
    }
    const used = async () =>
      (await quotas.of(projectId, { exportsAtOnce: 0 })).find(({ quota }) => quota === 'disk_bytes')?.used
    const give = (disk_bytes: number) => ledger.transaction((tx) => quotas.set(tx, projectId, { disk_bytes }))
    return { repository, put, kept, clock, store, projectId, used, give, ledger }
  }

  test('a replaced version can be delivered for a while, the newest for ever', async () => {
    const { repository, put, kept, clock, projectId } = await setup()
    const old = await put('one')
    const fresh = await put('two')
    await clock.move(HOUR - 1)
    await repository.runOnce(signal)
    expect(await repository.locate(projectId, 'a/f', old)).toBeDefined()
    await clock.move(1)
    expect(await repository.runOnce(signal)).toEqual({ removed: 1 })
    await expect(repository.locate(projectId, 'a/f', old)).rejects.toMatchObject({
      code: 'TRANSFER_SIGNATURE_MISMATCH',
    })
    expect(await kept()).toEqual([await repository.locate(projectId, 'a/f', fresh)])
  })

  test('a version that comes back is as good as new, and each is stored once', async () => {
    const { repository, put, kept, clock, projectId } = await setup()
    const one = await put('one')
    await put('two')
    expect(await put('one')).toBe(one)
    await clock.move(2 * HOUR)
    await repository.runOnce(signal)
    expect(await kept()).toEqual([await repository.locate(projectId, '/a/f', one)])
  })

  test('an upload that breaks off leaves what was there', async () => {
    const { repository, put, kept, projectId } = await setup()
    const one = await put('one')
    const broken = (async function* () {
      yield Buffer.from('t')
      throw new Error('the line is cut')
    })()
    await expect(repository.put(projectId, 'a/f', broken, signal)).rejects.toThrow('the line is cut')
    expect(await kept()).toEqual([await repository.locate(projectId, 'a/f', one)])
    expect(one).toBe(createHash('sha256').update('one').digest('hex'))
  })

  test.each<Moment>(['before the commit', 'after the commit'])(
    'a put whose connection breaks %s leaves a file that can be delivered, or none',
    async (moment) => {
      const { repository, put, kept, projectId, ledger } = await setup()
      loseCommit(ledger, moment)
      await expect(put('one')).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
      const signature = createHash('sha256').update('one').digest('hex')
      const found = await repository.locate(projectId, 'a/f', signature).catch(() => undefined)
      expect(await kept()).toEqual(moment === 'after the commit' ? [found] : [])
    },
  )

  test.each([
    ['of a length that is said', true],
    ['of a length that nobody knows', false],
  ])('[quota] files that are put at the same time, %s, share the room that is left', async (_, stated) => {
    const { repository, projectId, used, give, kept, ledger } = await setup()
    await give(200)
    let waiting = 0
    const all = Promise.withResolvers<void>()
    const begun = () => {
      waiting += 1
      if (waiting === 20) all.resolve()
    }
    const puts = Array.from({ length: 20 }, (_, n) => {
      const body = (async function* () {
        yield Buffer.alloc(30, n)
        begun()
        // Nobody ends before everybody has begun, or was refused.
        await all.promise
        yield Buffer.alloc(60, n)
      })()
      return repository.put(projectId, `f${n}`, body, signal, stated ? 90 : null).catch((error) => {
        begun()
        throw error
      })
    })
    const ends = await Promise.allSettled(puts)
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []))
    const taken = ends.length - refused.length
    expect(new Set(refused)).toEqual(new Set(['QUOTA_DISK']))
    if (stated) expect(taken).toBe(2)
    expect(taken).toBeLessThanOrEqual(2)
    expect(await used()).toBe(taken * 90)
    expect(await kept()).toHaveLength(taken)
    expect(await ledger.db.selectFrom('disk_reservations').selectAll().execute()).toEqual([])
  })

  test('[quota] what a put that died had reserved is free again after a day', async () => {
    const { repository, projectId, used, give, clock } = await setup()
    await give(100)
    const hangs = Promise.withResolvers<never>()
    const begun = Promise.withResolvers<void>()
    const body = (async function* () {
      begun.resolve()
      yield await hangs.promise
    })()
    const dead = repository.put(projectId, 'f', body, signal, 90)
    await begun.promise
    expect(await used()).toBe(90)
    await repository.runOnce(signal)
    expect(await used()).toBe(90)
    await clock.move(25 * HOUR)
    await repository.runOnce(signal)
    expect(await used()).toBe(0)
    hangs.reject(new Error('the line is cut'))
    await expect(dead).rejects.toThrow('the line is cut')
    expect(await used()).toBe(0)
  })

  test('a put that was broken off between store and ledger is swept after a day, and nothing else is', async () => {
    const { repository, put, kept, clock, store, projectId } = await setup()
    await put('one')
    const [needed] = await kept()
    const options = { contentType: 'text/plain' }
    await store.put(`repository/${projectId}/left`, bytes(Buffer.from('x')), options)
    await store.put('repository/of-another-installation/file', bytes(Buffer.from('y')), options)
    const sweeper = new OrphanSweeper({ store, owners: [repository], log: silentLog })
    expect(await sweeper.runOnce(signal)).toMatchObject({ orphans: 0 })
    await clock.move(25 * HOUR)
    expect(await sweeper.runOnce(signal)).toMatchObject({ orphans: 1 })
    expect((await kept()).sort()).toEqual([needed, 'repository/of-another-installation/file'].sort())
  })
})
