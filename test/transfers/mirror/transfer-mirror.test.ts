import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { targetsKeyOf } from '../../../src/transfers/transfer-keys.ts'
import { bytes, request, runDue, setupTransfers } from '../../support/transfers.ts'
import { until } from '../../support/until.ts'

const redisUrl = inject('redisUrl')

describe.skipIf(!redisUrl || !inject('postgresUrl'))('the mirror in Redis', () => {
  async function setup(instances = 1) {
    const redis = new Redis(redisUrl as string)
    onTestFinished(() => redis.disconnect())
    const all = await setupTransfers('postgres + redis', { instances })
    const { transfers } = all.first
    await transfers.putFile(all.projectId, 'release/v1/app.bin', bytes(), new AbortController().signal)
    const biz_id = Math.floor(Math.random() * 4_000_000_000)
    const join = (agent: string, on = all.first) =>
      on.transfers.request(all.projectId, request({ biz_id, target_agent_id: agent }))
    const json = async (key: string) =>
      JSON.parse((await redis.get(key)) ?? 'null') as Record<string, unknown>
    /** Lets the mirror's pauses pass until what is expected is there. */
    const mirrored = <T>(what: string, look: () => Promise<T>) =>
      until(what, async () => {
        await all.clock.move(250)
        return look()
      })
    return { ...all, transfers, redis, join, json, mirrored }
  }

  test('job, targets and tasks stand under their keys, with a time to live', async () => {
    const { join, redis, json, mirrored, clock, first } = await setup()
    const [one, two, again] = await Promise.all([join('a'), join('b'), join('a')])
    const targetsKey = targetsKeyOf(one.jobId)
    await mirrored('the last task is there', () => redis.exists(again.taskId))
    expect(await json(one.jobId)).toMatchObject({
      job_id: one.jobId,
      status: 'Pending',
      file_path: '/release/v1',
      file_name: 'app.bin',
      target_file_dir: '/opt/app',
      target_user: 'root',
      gse_task_id: '',
      success_targets: {},
    })
    const listed = (await redis.lrange(targetsKey, 0, -1)).map(
      (text) => JSON.parse(text) as { agent_id: string },
    )
    expect(listed.map(({ agent_id }) => agent_id).sort()).toEqual(['a', 'b'])
    expect(await json(two.taskId)).toMatchObject({
      job_id: two.jobId,
      target_agent_id: 'b',
      status: 'Pending',
    })
    for (const key of [one.jobId, targetsKey, two.taskId]) {
      const ttl = await redis.ttl(key)
      expect(ttl).toBeGreaterThan(1700)
      expect(ttl).toBeLessThanOrEqual(1800)
    }
    await clock.move(15_000)
    await runDue(first)
    await mirrored('the end is there', async () => (await json(two.taskId))?.status === 'Success')
    const job = await json(one.jobId)
    expect(job).toMatchObject({ status: 'Success', gse_task_id: 'recorded-1' })
    expect(job.success_targets).toMatchObject({ 'a:': { error_code: 0 }, 'b:': { error_code: 0 } })
    expect(await redis.llen(targetsKey)).toBe(2)
  })

  test('after Redis forgot everything the leader builds it again, and nothing is doubled', async () => {
    const { join, redis, json, mirrored, first, backend } = await setup()
    const tasks = [await join('a'), await join('b')]
    const jobId = tasks[0]!.jobId
    await mirrored('the last task is there', () => redis.exists(tasks[1]!.taskId))
    const mirror = first.mirror!
    const { signal } = new AbortController()
    expect(await mirror.runOnce(signal)).toEqual({ rebuilt: 1 })
    expect(await mirror.runOnce(signal)).toEqual({ rebuilt: 0 })
    expect(await redis.llen(targetsKeyOf(jobId))).toBe(2)
    const prefix = backend.env.WHARF_REDIS_PREFIX as string
    const companion = await first.engine.ledger.db
      .selectFrom('transfer_windows')
      .select('id')
      .executeTakeFirst()
    await redis.del(
      jobId,
      targetsKeyOf(jobId),
      ...tasks.map(({ taskId }) => taskId),
      `${prefix}:transfers-mirrored`,
      `${prefix}:transfer-mirror:${companion?.id}`,
    )
    expect(await mirror.runOnce(signal)).toEqual({ rebuilt: 1 })
    expect(await redis.llen(targetsKeyOf(jobId))).toBe(2)
    expect(await json(jobId)).toMatchObject({ status: 'Pending' })
    expect(await json(tasks[1]!.taskId)).toMatchObject({ status: 'Pending' })
  })

  test('targets that two instances take stand in one list', async () => {
    const { join, redis, mirrored, instances } = await setup(2)
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, index) => join(`agent-${index % 10}`, instances[index % 2])),
    )
    const key = targetsKeyOf(tasks[0]!.jobId)
    await mirrored('every task is there', async () => {
      const found = await redis.exists(...tasks.map(({ taskId }) => taskId))
      return found === tasks.length
    })
    expect(await redis.llen(key)).toBe(10)
  })
})
