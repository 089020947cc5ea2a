import { describe, expect, onTestFinished, test } from 'vitest'
import { craft, ThreadPool } from '../../../src/exports/threads/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

const WORK = [import.meta.url, 'arithmetic-work'] as const
const HALVE = craft<ArrayBuffer, { memory: ArrayBuffer; calls: number }>(...WORK, 'halve')
const FAIL = craft<{ message: string; code?: string; retryable?: boolean }, never>(...WORK, 'fail')
const CRASH = craft<null, never>(...WORK, 'crash')

function setup({ threads = 2 } = {}) {
  const pool = new ThreadPool({ threads })
  onTestFinished(() => pool.close())
  return { pool, signal: new AbortController().signal }
}

const memoryOf = (...numbers: number[]) => Float64Array.from(numbers).buffer

describe('a pool of threads', () => {
  test('hands memory over and gets it back', async () => {
    const { pool, signal } = setup()
    const memory = memoryOf(2, 4)
    const made = await pool.run(HALVE, memory, { signal, transfer: [memory] })
    expect([...new Float64Array(made.memory)]).toEqual([1, 2])
    expect(memory.byteLength).toBe(0)
  })

  test('brings errors of the table back as what they were', async () => {
    const { pool, signal } = setup()
    const failed = pool.run(FAIL, { message: 'no', code: 'SPOOL_DAMAGED', retryable: false }, { signal })
    const error = await failed.catch((reason: unknown) => reason)
    expect(isAppError(error, ERRORS.SPOOL_DAMAGED) && !error.retryable).toBe(true)
  })

  test('brings errors of the system back with their code', async () => {
    const { pool, signal } = setup()
    await expect(pool.run(FAIL, { message: 'full', code: 'ENOSPC' }, { signal })).rejects.toMatchObject({
      message: 'full',
      code: 'ENOSPC',
    })
  })

  test('keeps to one thread what is pinned to it', async () => {
    const { pool } = setup()
    const pinned = pool.pin()
    const calls: number[] = []
    for (let n = 0; n < 4; n++) calls.push((await pinned.run(HALVE, memoryOf(1))).calls)
    expect(calls).toEqual([1, 2, 3, 4])
    pinned.release()
  })

  test('spreads what is pinned over its threads', async () => {
    const { pool } = setup()
    const [one, other] = [pool.pin(), pool.pin()]
    await one.run(HALVE, memoryOf(1))
    expect((await other.run(HALVE, memoryOf(1))).calls).toBe(1)
  })

  test('starts a new thread for one that crashed', async () => {
    const { pool, signal } = setup({ threads: 1 })
    const pinned = pool.pin()
    await expect(pool.run(CRASH, null, { signal })).rejects.toThrow('crashed')
    await expect(pinned.run(HALVE, memoryOf(1))).rejects.toThrow('crashed')
    expect((await pool.run(HALVE, memoryOf(1), { signal })).calls).toBe(1)
  })

  test('does not begin what was given up meanwhile', async () => {
    const { pool } = setup({ threads: 1 })
    const enough = new AbortController()
    const tasks = Array.from({ length: 3 }, () => pool.run(HALVE, memoryOf(1), { signal: enough.signal }))
    enough.abort(new Error('enough'))
    const ends = await Promise.allSettled(tasks)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  })

  test('refuses what comes after its end', async () => {
    const { pool, signal } = setup()
    await pool.close()
    await expect(pool.run(HALVE, memoryOf(1), { signal })).rejects.toThrow('the threads have been stopped')
    expect(() => pool.pin()).toThrow('the threads have been stopped')
  })
})
