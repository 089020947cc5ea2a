import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jsonRows } from '../../src/ledger/index.ts'
import { availableBackends, openBackend } from '../support/backends.ts'
import { gate } from '../support/engines.ts'

describe.each(availableBackends())('the ledger on %s', (name) => {
  async function setup() {
    const backend = await openBackend(name)
    const ledger = await backend.openLedger()
    onTestFinished(async () => {
      await ledger.close()
      await backend.remove()
    })
    const put = (key: string, value: string) => ({ key, value, updated_at: 0 })
    const values = async () =>
      (await ledger.db.selectFrom('settings').select('value').orderBy('key').execute()).map(
        ({ value }) => value,
      )
    return { ledger, put, values }
  }

  test('what is registered for after the commit happens after it, in order, and only then', async () => {
    const { ledger, put } = await setup()
    const seen: string[] = []
    await ledger.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('first'))
      tx.afterCommit(() => seen.push('second'))
      await tx.db.insertInto('settings').values(put('a', '1')).execute()
      seen.push('work')
    })
    expect(seen).toEqual(['work', 'first', 'second'])
    const refused = ledger.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('never'))
      throw new Error('no')
    })
    await expect(refused).rejects.toThrow('no')
    expect(seen).not.toContain('never')
  })

  test('takes any text, also JSON that has a NUL or half a character, and JSON within JSON', async () => {
    const { ledger, put } = await setup()
    const odd = { '\0': ['\0', '\ud800', '\udc00x', 'C:\\u0000', '😀', JSON.stringify({ in: '\0\ud83d' })] }
    const whole = '{"emoji":"\\ud83d\\ude00"}'
    for (const [key, value] of Object.entries({ a: '\0x', b: JSON.stringify(odd), c: whole }))
      await ledger.transaction((tx) => tx.db.insertInto('settings').values(put(key, value)).execute())
    const rows = jsonRows(ledger.dialect, { key: 'text', value: 'text' }, [
      { key: 'd', value: '\0' },
      { key: 'e', value: JSON.stringify(odd) },
    ])
    await sql`insert into settings (key, value, updated_at) select key, value, 0 from ${rows} where true`.execute(
      ledger.db,
    )
    const looked = ledger.dialect === 'postgres' ? sql`value::json ->> 'x'` : sql`value ->> '$.x'`
    const look = sql`select ${looked} from settings where key in ('b', 'c', 'e')`.execute(ledger.db)
    expect((await look).rows).toHaveLength(3)
    if (ledger.dialect !== 'postgres') return
    const stored = await ledger.db.selectFrom('settings').select('value').orderBy('key').execute()
    const clean = {
      '\ufffd': ['\ufffd', '\ufffd', '\ufffdx', 'C:\\u0000', '😀', JSON.stringify({ in: '\0\ud83d' })],
    }
    expect(stored.map(({ value }) => value)).toEqual([
      '\ufffdx',
      JSON.stringify(clean),
      whole,
      '\ufffd',
      JSON.stringify(clean),
    ])
  })

  test('an action after the commit that throws neither undoes nor repeats the commit, nor stops the others', async () => {
    const { ledger, put, values } = await setup()
    const seen: string[] = []
    const result = await ledger.transaction(async (tx) => {
      await tx.db
        .insertInto('settings')
        .values(put(`key ${seen.length}`, 'v'))
        .execute()
      tx.afterCommit(() => {
        seen.push('thrower')
        throw Object.assign(new Error('careless'), { code: '40001' })
      })
      tx.afterCommit(() => seen.push('next'))
      return 'result'
    })
    expect({ result, seen }).toEqual({ result: 'result', seen: ['thrower', 'next'] })
    expect(await values()).toEqual(['v'])
  })

  test('a lock is had by one transaction at a time, others are told at once, and it ends with its transaction', async () => {
    const { ledger } = await setup()
    const inside = gate()
    const leave = gate()
    const first = ledger.transaction(async (tx) => {
      const locked = await tx.tryLock('thing')
      inside.open()
      if (name !== 'embedded') await leave.passed
      return locked
    })
    await inside.passed
    const second = await ledger.transaction((tx) => tx.tryLock('thing'))
    const other = await ledger.transaction((tx) => tx.tryLock('another thing'))
    leave.open()
    // One writer: on SQLite the second transaction only gets its turn when the first has had its own.
    expect([await first, other]).toEqual([true, true])
    if (name !== 'embedded') expect(second).toBe(false)
    expect(await ledger.transaction((tx) => tx.tryLock('thing'))).toBe(true)
    await expect(
      ledger.transaction(async (tx) => {
        await tx.tryLock('thing')
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    expect(await ledger.transaction((tx) => tx.tryLock('thing'))).toBe(true)
  })

  test('transactions that lock the same rows in opposite order both go through', async () => {
    const { ledger, put, values } = await setup()
    await ledger.db
      .insertInto('settings')
      .values([put('a', ''), put('b', '')])
      .execute()
    const both = [gate(), gate()]
    const write = async (mark: string, keys: [string, string], mine: number) => {
      let first = true
      await ledger.transaction(async (tx) => {
        for (const key of keys) {
          await tx.db
            .updateTable('settings')
            .set((eb) => ({ value: eb(eb.ref('value'), '||' as never, mark as never) as never }))
            .where('key', '=', key)
            .execute()
          if (first && name !== 'embedded') {
            first = false
            both[mine]?.open()
            await both[1 - mine]?.passed
          }
        }
      })
    }
    await Promise.all([write('x', ['a', 'b'], 0), write('y', ['b', 'a'], 1)])
    for (const value of await values()) expect([...value].toSorted()).toEqual(['x', 'y'])
  })

  test('a snapshot sees one moment, whatever is committed meanwhile', async () => {
    const { ledger, put } = await setup()
    await ledger.db.insertInto('settings').values(put('a', '1')).execute()
    const counts = await ledger.snapshot(async (db) => {
      const count = async () => (await db.selectFrom('settings').selectAll().execute()).length
      const before = await count()
      const write = ledger.db.insertInto('settings').values(put('b', '2')).execute()
      if (name !== 'embedded') await write
      return [before, await count()]
    })
    expect(counts).toEqual([1, 1])
  })
})
