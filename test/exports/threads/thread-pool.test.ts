import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ThreadPool } from '../../../src/exports/index.ts'
import { taskFunction } from '../../../src/exports/threads/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'
import { until } from '../../support/until.ts'

const WORK = [import.meta.url, 'arithmetic-work'] as const
const HALVE = taskFunction<ArrayBuffer, { memory: ArrayBuffer; calls: number }>(...WORK, 'halve')
const FAIL = taskFunction<{ message: string; code?: string; retryable?: boolean }, never>(...WORK, 'fail')
const SPIN = taskFunction<SharedArrayBuffer, never>(...WORK, 'spin')
const CRASH = taskFunction<null, never>(...WORK, 'crash')
const HEAP_LIMIT = taskFunction<null, number>(...WORK, 'heapLimit')
const QUIT = taskFunction<null, never>(...WORK, 'quit')

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

  test('has threads that collect their garbage early', async () => {
    const { pool, signal } = setup()
    // V8 lets heaps with a limit of 2 GB or more grow fourfold first.
    expect(await pool.run(HEAP_LIMIT, null, { signal })).toBeLessThan(2 ** 31)
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

  test('fails what a thread was at that ends without a word, and goes on with another', async () => {
    const { pool, signal } = setup({ threads: 1 })
    await expect(pool.run(QUIT, null, { signal })).rejects.toThrow(
      'a thread ended with code 0 before its work',
    )
    expect((await pool.run(HALVE, memoryOf(1), { signal })).calls).toBe(1)
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

  test('gives tasks to the threads that nothing is pinned to any more, and none to others', async () => {
    const { pool, signal } = setup({ threads: 1 })
    const pinned = pool.pin()
    expect((await pinned.run(HALVE, memoryOf(1))).calls).toBe(1)
    const elsewhere = pool.run(HALVE, memoryOf(1), { signal })
    expect((await elsewhere).calls).toBe(1)
    expect((await pinned.run(HALVE, memoryOf(1))).calls).toBe(2)
    pinned.release()
    expect((await pool.run(HALVE, memoryOf(1), { signal })).calls).toBe(3)
  })

  test('pins nothing to a thread with tasks, whose state a task that is given up would take along', async () => {
    const { pool } = setup({ threads: 1 })
    const enough = new AbortController()
    const turns = new SharedArrayBuffer(4)
    const lost = pool.run(SPIN, turns, { signal: enough.signal })
    await until('the thread spins', () => Atomics.load(new Int32Array(turns), 0))
    const pinned = pool.pin()
    await pinned.run(HALVE, memoryOf(1))
    enough.abort(new Error('enough'))
    await expect(lost).rejects.toThrow('enough')
    expect((await pinned.run(HALVE, memoryOf(1))).calls).toBe(2)
  })

  test('starts a new thread for one that crashed, and loses no task but the one that did it', async () => {
    const { pool, signal } = setup({ threads: 1 })
    const crashed = pool.run(CRASH, null, { signal })
    const next = pool.run(HALVE, memoryOf(1), { signal })
    await expect(crashed).rejects.toThrow('crashed')
    expect((await next).calls).toBe(1)
    const pinned = pool.pin()
    await expect(pinned.run(CRASH, null)).rejects.toThrow('crashed')
    await expect(pinned.run(HALVE, memoryOf(1))).rejects.toThrow('crashed')
    expect((await pool.pin().run(HALVE, memoryOf(1))).calls).toBe(1)
  })

  test('ends a thread whose task was given up, and lets another do what waited for it', async () => {
    const { pool, signal } = setup({ threads: 1 })
    const enough = new AbortController()
    const turns = new SharedArrayBuffer(4)
    const count = () => Atomics.load(new Int32Array(turns), 0)
    const pinned = pool.pin()
    await pinned.run(HALVE, memoryOf(1))
    const lost = pool.run(SPIN, turns, { signal: enough.signal })
    const next = pool.run(HALVE, memoryOf(1), { signal })
    await until('the thread spins', count)
    enough.abort(new Error('enough'))
    await expect(lost).rejects.toThrow('enough')
    expect((await next).calls).toBe(1)
    const atEnd = count()
    await pool.run(HALVE, memoryOf(1), { signal })
    expect(count()).toBe(atEnd)
    expect((await pinned.run(HALVE, memoryOf(1))).calls).toBe(2)
  })

  test('ends a thread for a task that was given up while it waited there', async () => {
    const { pool, signal } = setup({ threads: 1 })
    const [first, second] = [new AbortController(), new AbortController()]
    const turns = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)] as const
    const tasks = [
      pool.run(SPIN, turns[0], { signal: first.signal }),
      pool.run(SPIN, turns[1], { signal: second.signal }),
    ]
    await until('the thread spins', () => Atomics.load(new Int32Array(turns[0]), 0))
    second.abort(new Error('second'))
    first.abort(new Error('first'))
    const ends = await Promise.allSettled(tasks)
    expect(ends).toMatchObject([{ reason: { message: 'first' } }, { reason: { message: 'second' } }])
    expect((await pool.run(HALVE, memoryOf(1), { signal })).calls).toBe(1)
  })

  test('does not begin what was given up meanwhile', async () => {
    const { pool } = setup({ threads: 1 })
    const enough = new AbortController()
    const tasks = Array.from({ length: 3 }, () => pool.run(HALVE, memoryOf(1), { signal: enough.signal }))
    enough.abort(new Error('enough'))
    const ends = await Promise.allSettled(tasks)
    expect(ends[2]).toMatchObject({ reason: { message: 'enough' } })
    const { signal } = new AbortController()
    expect((await pool.run(HALVE, memoryOf(1), { signal })).calls).toBeLessThanOrEqual(3)
  })

  test('refuses what comes after its end', async () => {
    const { pool, signal } = setup()
    await pool.close()
    await expect(pool.run(HALVE, memoryOf(1), { signal })).rejects.toThrow('the threads have been stopped')
    expect(() => pool.pin()).toThrow('the threads have been stopped')
  })

  test('stays awaited while it is closed, also when an answer still comes', async () => {
    const { terminate } = Worker.prototype
    onTestFinished(() => void vi.restoreAllMocks())
    vi.spyOn(Worker.prototype, 'terminate').mockImplementation(async function (this: Worker) {
      await once(this, 'message')
      return terminate.call(this)
    })
    const unref = vi.spyOn(Worker.prototype, 'unref')
    const { pool, signal } = setup({ threads: 1 })
    const answered = pool.run(HALVE, memoryOf(1), { signal })
    await pool.close()
    expect((await answered).calls).toBe(1)
    // Otherwise a process with nothing else to do ends here, in the middle of its wait.
    expect(unref, 'only at its start').toHaveBeenCalledTimes(1)
  })
})
