import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NO_QUOTAS, Quotas } from '../../src/engine/index.ts'
import { OrphanSweeper } from '../../src/storage/index.ts'
import { Repository } from '../../src/transfers/repository.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
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
    return { repository, put, kept, clock, store, projectId }
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
