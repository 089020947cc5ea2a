import { expect, onTestFinished, test } from 'vitest'
import { AppError, createLog, DutyLoop, ERRORS, systemClock } from '../../src/kernel/index.ts'
import { silentLog } from '../support/backends.ts'
import { gate } from '../support/engines.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

function setup(runOnce: (signal: AbortSignal, pass: number) => Promise<unknown>) {
  const clock = new ManualClock()
  const passes: number[] = []
  const loop = new DutyLoop(
    {
      name: 'test',
      runOnce: (signal) => {
        passes.push(clock.now())
        return runOnce(signal, passes.length)
      },
    },
    { clock, log: silentLog },
    { everyMs: 1_000, jitter: 0 },
  )
  onTestFinished(() => loop.stop())
  const start = clock.now()
  /** When each pass began, counted from the start. */
  const times = () => passes.map((at) => at - start)
  const asleep = () => until('the loop sleeps', () => clock.sleeping === 1)
  return { clock, loop, times, asleep }
}

test('the first pass comes at once, the others at the interval', async () => {
  const { clock, loop, times, asleep } = setup(async () => undefined)
  loop.start()
  loop.start()
  await asleep()
  clock.advance(999)
  expect(times()).toEqual([0])
  clock.advance(1)
  await asleep()
  clock.advance(1_000)
  await asleep()
  expect(times()).toEqual([0, 1_000, 2_000])
})

test('a pass that knows when the next one is worth it decides', async () => {
  const { clock, loop, times, asleep } = setup(async (_, pass) => (pass === 1 ? { nextInMs: 10 } : {}))
  loop.start()
  await asleep()
  clock.advance(10)
  await asleep()
  clock.advance(999)
  expect(times()).toEqual([0, 10])
  clock.advance(1)
  await asleep()
  expect(times()).toEqual([0, 10, 1_010])
})

test('a pass that fails is followed by the next as usual', async () => {
  const { clock, loop, times, asleep } = setup(async (_, pass) => {
    if (pass < 3) throw new Error('not now')
  })
  loop.start()
  for (let pass = 0; pass < 3; pass++) {
    await asleep()
    clock.advance(1_000)
  }
  await asleep()
  expect(times()).toEqual([0, 1_000, 2_000, 3_000])
})

test('passes never overlap, however long one takes', async () => {
  const { open, passed } = gate()
  const { clock, loop, times, asleep } = setup((_, pass) => (pass === 1 ? passed : Promise.resolve()))
  loop.start()
  clock.advance(60_000)
  expect(times()).toEqual([0])
  open()
  await asleep()
  expect(times()).toEqual([0])
})

test('stopping ends the sleep, tells a pass under way, and waits for it', async () => {
  const { open, passed } = gate()
  let told = false
  const { loop, times } = setup(async (signal) => {
    signal.addEventListener('abort', () => {
      told = true
    })
    await passed
  })
  loop.start()
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  expect(told).toBe(true)
  expect(stopped).toBe(false)
  open()
  await stopping
  expect(times()).toEqual([0])
})

test('a loop that was never started stops as well', async () => {
  const { loop, times } = setup(async () => undefined)
  await loop.stop()
  loop.start()
  await loop.stop()
  expect(times()).toEqual([])
})

test('an outage is said once and without a stack, and a fault of ours with one', async () => {
  const lines: { level: number; msg: string; err?: unknown }[] = []
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(JSON.parse(line)) } })
  let passes = 0
  const duty = {
    name: 'test',
    runOnce: async () => {
      if (++passes <= 3) throw new AppError(ERRORS.STORAGE_UNAVAILABLE, `try ${passes}`)
      if (passes <= 5) throw new TypeError('wrong')
    },
  }
  const loop = new DutyLoop(duty, { clock: systemClock, log }, { everyMs: 1, jitter: 0 })
  loop.start()
  await until('it has worked', () => passes > 5)
  await loop.stop()
  expect(lines).toMatchObject([
    { msg: 'duty waits for the store', duty: 'test' },
    { msg: 'duty failed, will try again', err: { stack: expect.stringContaining('TypeError: wrong') } },
  ])
  expect(lines[0]).not.toHaveProperty('err')
})
