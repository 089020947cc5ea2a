import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends, type BackendName } from '../support/backends.ts'
import { HeldFeeds } from './held-feeds.ts'
import { type Instance, type State, setupRuns } from './runs-setup.ts'

describe.each(availableBackends())('the gate on %s', (name) => {
  test('lets the first three in and the others wait in their order', async () => {
    const { one, feeds, ids } = await five(name)
    const state = await one.until(running(3))
    expect(states(state)).toEqual({ a: 'Running', b: 'Running', c: 'Running', d: 'Queued', e: 'Queued' })
    expect(state.queue).toEqual([ids.d, ids.e])
    expect(state.max_concurrent).toBe(3)
    feeds.finish('b')
    const next = await one.until((seen) => states(seen).b === 'Done' && running(3)(seen))
    expect(states(next)).toMatchObject({ a: 'Running', c: 'Running', d: 'Running', e: 'Queued' })
    expect(next.queue).toEqual([ids.e])
  })

  test('starts the next ones at once when the limit goes up', async () => {
    const { one } = await five(name)
    await one.until(running(3))
    await one.limit(5)
    expect((await one.until(running(5))).queue).toEqual([])
  })

  test('leaves running ones alone when the limit goes down, and starts none until there is room', async () => {
    const { one, feeds } = await five(name)
    await one.until(running(3))
    await one.limit(1)
    expect(states(await one.runs.state())).toMatchObject({ a: 'Running', b: 'Running', c: 'Running' })
    feeds.finish('a')
    await one.until((seen) => states(seen).a === 'Done')
    feeds.finish('b')
    const two = await one.until((seen) => states(seen).b === 'Done')
    expect(states(two)).toMatchObject({ c: 'Running', d: 'Queued', e: 'Queued' })
    feeds.finish('c')
    const last = await one.until((seen) => states(seen).c === 'Done' && running(1)(seen))
    expect(states(last)).toMatchObject({ d: 'Running', e: 'Queued' })
  })

  test('takes a cancelled run out of the queue, and its account is idle again with no file touched', async () => {
    const { one, ids, folder } = await five(name)
    await one.until(running(3))
    await one.cancel(ids.d, 'delete')
    const state = await one.runs.state()
    expect(state.accounts[3]).toMatchObject({ state: 'Idle', locked: false, run_id: null, error: null })
    expect(state.queue).toEqual([ids.e])
    expect(await one.runs.run(ids.d)).toMatchObject({ state: 'Cancelled', started_at: null })
    expect(existsSync(join(folder, 'd'))).toBe(false)
    await expect(one.cancel(ids.d)).rejects.toMatchObject({ code: 'RUN_ENDED' })
    await expect(one.cancel('no-such-run')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  test('refuses a second run, a change and a deletion while an account is queued or running', async () => {
    const { one, feeds, ids } = await five(name)
    await one.until(running(3))
    for (const handle of ['a', 'd'] as const) {
      await expect(one.start(handle, 'continue')).rejects.toMatchObject({
        code: 'RUN_ACTIVE',
        details: { handle, run_id: ids[handle] },
      })
      await expect(one.put(handle, feeds.url(handle))).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' })
      await expect(remove(one, handle)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' })
    }
    feeds.finish('a')
    await one.until((seen) => states(seen).a === 'Done')
    await one.put('a', feeds.url('a'), { limit: 7 })
    // What a run was started with stays with it.
    expect(await one.runs.run(ids.a)).toMatchObject({ params: {} })
    await remove(one, 'a')
    expect(states(await one.runs.state())).not.toHaveProperty('a')
    await expect(one.start('a')).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
  })

  test('refuses handles that are no folder and feeds that the address guard refuses', async () => {
    const { instance } = await setupRuns(name)
    const one = await instance()
    for (const handle of ['..', 'a/b', 'CON', '', ' ', 'a b', '.hidden', 'x'.repeat(101), 'dot.', 'zero\0'])
      await expect(one.put(handle, 'http://127.0.0.1/')).rejects.toMatchObject({ code: 'HANDLE_INVALID' })
    await one.put('商户-01', 'http://127.0.0.1/')
    await expect(one.put('a', 'http://10.0.0.1/')).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    await expect(one.put('a', 'file:///etc/passwd')).rejects.toMatchObject({ code: 'URL_UNSUPPORTED' })
    const params: [path: string, bad: Parameters<typeof one.put>[2]][] = [
      ['since', { since: 'yesterday' }],
      ['since', { since: '40' }],
      ['until', { until: '2026-02-30' }],
      ['min_size', { min_size: 9, max_size: 3 }],
      ['since', { since: '2026-02-02', until: '2026-02-01' }],
      ['types', { types: [] }],
      ['types/1', { types: ['image', 'x/'] }],
      ['types/0', { types: ['/png'] }],
      ['types/0', { types: ['*/*'] }],
    ]
    for (const [path, bad] of params)
      await expect(one.put('a', 'http://127.0.0.1/', bad), JSON.stringify(bad)).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        details: { errors: [{ path: `params/${path}` }] },
      })
    const good = {
      since: '2026-02-01',
      until: '2026-02-01',
      types: ['image', 'image/*', 'image/svg+xml', 'live photo'],
    }
    await one.put('a', 'http://127.0.0.1/', good)
  })

  test('keeps how the last run ended when its job is deleted after its time', async () => {
    const { one, feeds, ids } = await five(name)
    feeds.finish('a')
    const before = (await one.until((seen) => states(seen).a === 'Done')).accounts[0]
    await one.engine.ledger.db
      .updateTable('jobs')
      .set({ delete_after: 0 })
      .where('state', '=', 'succeeded')
      .execute()
    await one.engine.retention.runOnce(new AbortController().signal)
    expect((await one.runs.state()).accounts[0]).toEqual(before)
    await expect(one.runs.run(ids.a)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })
})

describe.runIf(availableBackends().includes('postgres + redis'))('two instances', () => {
  test('accept one of many requests for the same account that race', async () => {
    const { instance } = await setupRuns('postgres + redis')
    const feeds = await HeldFeeds.open(['a'])
    const both = [await instance(), await instance()] as const
    await both[0].put('a', feeds.url('a'))
    const asked = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => (both[index % 2] as Instance).start('a')),
    )
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of asked)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RUN_ACTIVE' })
    expect(await both[0].engine.ledger.db.selectFrom('runs').selectAll().execute()).toHaveLength(1)
  })

  test('share one limit, and either cancels what the other runs', async () => {
    const { instance } = await setupRuns('postgres + redis')
    const feeds = await HeldFeeds.open(['a', 'b', 'c', 'd'])
    const worker = await instance()
    const other = await instance({}, { works: false })
    const ids: string[] = []
    for (const handle of feeds.handles) {
      await other.put(handle, feeds.url(handle))
      ids.push(await other.start(handle))
    }
    await worker.until(running(3))
    await other.cancel(ids[0] as string)
    const seen = await other.until((state) => states(state).a === 'Cancelled' && running(3)(state))
    expect(states(seen)).toMatchObject({ b: 'Running', c: 'Running', d: 'Running' })
  })
})

/** Five accounts, all started in the order of the alphabet, whose feeds answer only when told to. */
async function five(name: BackendName) {
  const { instance, folder } = await setupRuns(name)
  const one = await instance()
  const handles = ['a', 'b', 'c', 'd', 'e'] as const
  const feeds = await HeldFeeds.open(handles)
  const ids = {} as Record<(typeof handles)[number], string>
  for (const handle of handles) {
    await one.put(handle, feeds.url(handle))
    ids[handle] = await one.start(handle)
  }
  return { one, feeds, ids, folder }
}

function states(state: State): Record<string, string> {
  return Object.fromEntries(state.accounts.map((account) => [account.handle, account.state]))
}

function running(count: number): (state: State) => boolean {
  return (state) => state.accounts.filter((account) => account.state === 'Running').length === count
}

function remove({ engine, runs }: Instance, handle: string): Promise<void> {
  return engine.ledger.transaction((tx) => runs.deleteAccount(tx, handle))
}
