import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type Bundle, WakeWorker } from '../../../src/jobs/dispatch/wake-worker.ts'

const url = inject('redisUrl')
const require = createRequire(import.meta.url)

test('one version of BullMQ is named exactly, because protected members of it are used', () => {
  const { dependencies } = require('../../../package.json') as { dependencies: Record<string, string> }
  const installed = require('bullmq/package.json') as { version: string }
  expect(dependencies.bullmq).toBe(installed.version)
})

async function setup() {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const redis = new Redis(url ?? '', { maxRetriesPerRequest: null })
  const queue = new Queue<Bundle>('wake', { connection: redis, prefix })
  const worker = new WakeWorker('wake', { url: url ?? '', prefix, answerMs: 1_234 })
  worker.on('error', () => undefined)
  onTestFinished(async () => {
    await worker.end()
    await queue.close()
    redis.disconnect()
  })
  return { queue, worker, redis }
}

describe.runIf(url)('what is relied on of BullMQ', () => {
  test('completing a job fetches the next one with it, ready to be completed, and leaves no key of the first', async () => {
    const { queue, worker, redis } = await setup()
    await queue.addBulk(['a', ['b', 'c']].map((data) => ({ name: 'wake', data })))
    const first = await worker.getNextJob('token')
    expect(first?.data).toBe('a')
    const second = await worker.complete(first!, true)
    expect([second?.data, second?.token]).toEqual([['b', 'c'], 'token'])
    expect(await worker.complete(second!, true)).toBeUndefined()
    expect(await redis.keys(queue.toKey('[0-9]*'))).toEqual([])
  })

  test('without a free slot, completing a job fetches none', async () => {
    const { queue, worker } = await setup()
    await queue.addBulk(['a', 'b'].map((data) => ({ name: 'wake', data })))
    expect(await worker.complete((await worker.getNextJob('token'))!, false)).toBeUndefined()
    expect(await queue.getWaitingCount()).toBe(1)
  })
})
