import { expect, test } from 'vitest'
import { Lifecycle } from '../../src/kernel/index.ts'
import { silentLog } from '../support/backends.ts'

function setup() {
  const log: string[] = []
  const part = (name: string, { failsToStart = false, failsToStop = false } = {}) => ({
    name,
    async start() {
      await Promise.resolve()
      if (failsToStart) throw new Error(`${name} does not start`)
      log.push(`+${name}`)
    },
    async stop() {
      await Promise.resolve()
      log.push(`-${name}`)
      if (failsToStop) throw new Error(`${name} does not stop`)
    },
  })
  return { lifecycle: new Lifecycle(silentLog), log, part }
}

test('parts start in order and stop in reverse', async () => {
  const { lifecycle, log, part } = setup()
  await lifecycle.start([part('a'), part('b')])
  await lifecycle.start([part('c')])
  await lifecycle.stop()
  expect(log).toEqual(['+a', '+b', '+c', '-c', '-b', '-a'])
})

test('a part that does not start stops those that were up, and the error is its own', async () => {
  const { lifecycle, log, part } = setup()
  const starting = lifecycle.start([
    part('a'),
    part('b', { failsToStop: true }),
    part('c', { failsToStart: true }),
    part('d'),
  ])
  await expect(starting).rejects.toThrow('c does not start')
  expect(log).toEqual(['+a', '+b', '-b', '-a'])
})

test('a part that does not stop keeps no other from stopping', async () => {
  const { lifecycle, log, part } = setup()
  await lifecycle.start([part('a'), part('b', { failsToStop: true }), part('c')])
  await lifecycle.stop()
  expect(log.slice(3)).toEqual(['-c', '-b', '-a'])
})

test('stopping twice, also at the same time, stops each part once', async () => {
  const { lifecycle, log, part } = setup()
  await lifecycle.start([part('a'), part('b')])
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  await lifecycle.stop()
  expect(log.toSorted()).toEqual(['+a', '+b', '-a', '-b'])
})

test('stopping at the same time still keeps the order', async () => {
  const { lifecycle, log, part } = setup()
  const slow = {
    ...part('b'),
    async stop() {
      await new Promise((resolve) => setImmediate(resolve))
      log.push('-b')
    },
  }
  await lifecycle.start([part('a'), slow])
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  expect(log).toEqual(['+a', '+b', '-b', '-a'])
})

test('parts without start or stop are welcome', async () => {
  const { lifecycle, log, part } = setup()
  await lifecycle.start([{ name: 'plain' }, part('a')])
  await lifecycle.stop()
  expect(log).toEqual(['+a', '-a'])
})

test('a stop lets all parts drain at once, then all disconnect, and only then stops the first', async () => {
  const { lifecycle, log, part } = setup()
  const phases = (name: string) => ({
    ...part(name),
    async drain() {
      log.push(`drain ${name}`)
      await new Promise((resolve) => setImmediate(resolve))
      log.push(`drained ${name}`)
    },
    async disconnect() {
      log.push(`disconnect ${name}`)
    },
  })
  await lifecycle.start([phases('a'), part('b'), phases('c')])
  await lifecycle.stop()
  expect(log.slice(3)).toEqual([
    ...['drain c', 'drain a', 'drained c', 'drained a', 'disconnect c', 'disconnect a'],
    ...['-c', '-b', '-a'],
  ])
})

test('a part that could drain for long ends the stop as soon as it is done', async () => {
  const lifecycle = new Lifecycle(silentLog, { drainMs: 1_000_000 })
  let asked: AbortSignal | undefined
  await lifecycle.start([
    {
      name: 'work',
      async drain(until) {
        asked = until
      },
    },
  ])
  await lifecycle.stop()
  expect(asked?.aborted).toBe(false)
})

test('work that does not end in time is told so, and a part that never stops holds nobody up for ever', async () => {
  const lifecycle = new Lifecycle(silentLog, { drainMs: 10, marginMs: 30 })
  const log: string[] = []
  await lifecycle.start([
    { name: 'hangs', stop: () => new Promise(() => undefined) },
    {
      name: 'works',
      drain: (until) =>
        new Promise((resolve) =>
          until.addEventListener('abort', () => {
            log.push('told')
            resolve()
          }),
        ),
    },
  ])
  await lifecycle.stop()
  expect(log).toEqual(['told'])
})
