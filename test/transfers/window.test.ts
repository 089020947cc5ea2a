import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import {
  bytes,
  newProject,
  request,
  runDue,
  SIGNATURE,
  setupTransfers,
  WINDOW_SECONDS,
} from '../support/transfers.ts'

const WINDOW_MS = WINDOW_SECONDS * 1000

describe.each(availableBackends())('the window on %s', (name) => {
  async function setup(options: Parameters<typeof setupTransfers>[1] = {}) {
    const all = await setupTransfers(name, options)
    await all.first.transfers.putFile(
      all.projectId,
      'release/v1/app.bin',
      bytes(),
      new AbortController().signal,
    )
    const join = (more: Record<string, unknown> = {}) =>
      all.first.transfers.request(all.projectId, request(more))
    return { ...all, join }
  }

  test('requests for one file in one window share a job, whose id names file and window', async () => {
    const { join, clock, carrier, first } = await setup()
    const tasks = await Promise.all([
      join(),
      join({ target_agent_id: 'agent-2' }),
      join({ target_agent_id: 'agent-3', target_container_id: 'c' }),
    ])
    const bucket = Math.floor(clock.now() / 1000 / WINDOW_SECONDS)
    expect(new Set(tasks.map(({ jobId }) => jobId))).toEqual(
      new Set([`AsyncDownloadJob:1:2:/release/v1/app.bin:${bucket}`]),
    )
    for (const { taskId } of tasks)
      expect(taskId).toMatch(/^AsyncDownloadTask:1:2:\/release\/v1\/app\.bin:[0-9a-f-]{36}$/)
    expect((await first.transfers.task(tasks[0].taskId)).status).toBe('Pending')
    await clock.move(WINDOW_MS)
    await runDue(first)
    expect(carrier.orders.size).toBe(1)
    const job = await first.transfers.job(tasks[0].jobId)
    expect(job).toMatchObject({ status: 'Success', targets: 3 })
    expect(Object.keys(job.success_targets).sort()).toEqual(['agent-1:', 'agent-2:', 'agent-3:c'])
    expect((await first.transfers.task(tasks[2].taskId)).status).toBe('Success')
  })

  test('the same target asking twice is two tasks and one target', async () => {
    const { join, clock, carrier, first } = await setup()
    const [one, two] = await Promise.all([join(), join()])
    const three = await join()
    expect(new Set([one.taskId, two.taskId, three.taskId]).size).toBe(3)
    await clock.move(WINDOW_MS)
    await runDue(first)
    expect([...carrier.orders.values()].map(({ targets }) => targets.length)).toEqual([1])
    for (const { taskId } of [one, two, three])
      expect((await first.transfers.task(taskId)).status).toBe('Success')
  })

  test('directory and user belong to the target', async () => {
    const { join, clock, carrier, first } = await setup()
    await Promise.all([
      join(),
      join({ target_file_dir: '/srv' }),
      join({ target_file_dir: '/var/www', target_user: 'www' }),
    ])
    await clock.move(WINDOW_MS)
    await runDue(first)
    const [order] = carrier.orders.values()
    expect(order?.targets.map(({ directory, user }) => `${directory} ${user}`).sort()).toEqual([
      '/opt/app root',
      '/srv root',
      '/var/www www',
    ])
  })

  test('one place has one owner in a window, however it is written; other requests are not held up', async () => {
    const { join, clock, carrier, first } = await setup()
    const together = await Promise.allSettled([
      join(),
      join({ target_file_dir: '/opt//app/./', target_user: 'www' }),
      join({ target_agent_id: 'agent-2', target_user: 'www' }),
    ])
    expect(together.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const [refused] = together.filter((outcome) => outcome.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: 'TRANSFER_PLACE_TAKEN' })
    const owner = refused === together[0] ? 'www' : 'root'
    const other = owner === 'www' ? 'root' : 'www'
    await expect(join({ target_user: other })).rejects.toMatchObject({ code: 'TRANSFER_PLACE_TAKEN' })
    await join({ target_user: owner, target_file_dir: '/opt/app/' })
    await clock.move(WINDOW_MS)
    const next = await join({ target_user: other })
    await runDue(first)
    const [order] = carrier.orders.values()
    expect(order?.targets.map(({ agentId, user }) => `${agentId} ${user}`).sort()).toEqual([
      `agent-1 ${owner}`,
      'agent-2 www',
    ])
    expect((await first.transfers.task(next.taskId)).status).toBe('Pending')
  })

  test('a directory on a target must be absolute', async () => {
    const { join } = await setup()
    for (const target_file_dir of ['relative', './here', '~/files', 'opt/app'])
      await expect(join({ target_file_dir })).rejects.toMatchObject({ code: 'REPOSITORY_PATH_INVALID' })
  })

  test('a window is fixed: it ends when it must, however late the last caller came', async () => {
    const { join, clock, first } = await setup()
    const early = await join()
    await clock.move(WINDOW_MS - 1)
    const late = await join({ target_agent_id: 'agent-2' })
    expect(late.jobId).toBe(early.jobId)
    expect(await runDue(first)).toBe(0)
    await clock.move(1)
    const next = await join({ target_agent_id: 'agent-3' })
    expect(next.jobId).not.toBe(early.jobId)
    await runDue(first)
    expect((await first.transfers.job(early.jobId)).status).toBe('Success')
    expect((await first.transfers.job(next.jobId)).status).toBe('Pending')
  })

  test('a window that has closed takes no target, whatever the clock says', async () => {
    const { join, clock, first, ledger } = await setup()
    const { jobId } = await join()
    await ledger.db.updateTable('transfer_windows').set({ status: 'Running' }).execute()
    const after = await join({ target_agent_id: 'agent-2' })
    const bucket = Math.floor(clock.now() / 1000 / WINDOW_SECONDS)
    expect(after.jobId).toBe(jobId.replace(`:${bucket}`, `:${bucket + 1}`))
    expect((await first.transfers.job(jobId)).targets).toBe(1)
  })

  test('a second signature for the same path is a job of its own, in the same window', async () => {
    const { join, clock, carrier, first, projectId } = await setup()
    const other = Buffer.from('another version\n')
    const signature = createHash('sha256').update(other).digest('hex')
    await first.transfers.putFile(
      projectId,
      '/release/v1/app.bin',
      bytes(other),
      new AbortController().signal,
    )
    const [old, fresh] = await Promise.all([join(), join({ file_signature: signature })])
    expect(fresh.jobId).toBe(`${old.jobId}#${signature.slice(0, 8)}`)
    expect((await join({ file_signature: signature, target_agent_id: 'b' })).jobId).toBe(fresh.jobId)
    await clock.move(WINDOW_MS)
    await runDue(first)
    expect([...carrier.orders.values()].map((order) => order.signature).sort()).toEqual(
      [SIGNATURE, signature].sort(),
    )
    expect((await first.transfers.job(fresh.jobId)).status).toBe('Success')
    expect((await first.transfers.job(old.jobId)).status).toBe('Success')
  })

  test('paths with colons, spaces and Chinese go through, also very long ones', async () => {
    const { clock, first, projectId } = await setup()
    const directory = `/数据:第 1 批/${Array.from({ length: 16 }, () => '很长的路径'.repeat(16)).join('/')}`
    const put = await first.transfers.putFile(
      projectId,
      `${directory}/a:b c.bin`,
      bytes(),
      new AbortController().signal,
    )
    const { taskId, jobId } = await first.transfers.request(
      projectId,
      request({ file_path: directory, file_name: 'a:b c.bin', file_signature: put.signature }),
    )
    expect(Buffer.byteLength(jobId)).toBeGreaterThan(2_700)
    await clock.move(WINDOW_MS)
    await runDue(first)
    expect(await first.transfers.task(taskId)).toMatchObject({
      status: 'Success',
      file_path: directory,
      file_name: 'a:b c.bin',
    })
    expect((await first.transfers.job(jobId)).status).toBe('Success')
    const events = await first.engine.events.read(0, { taskId })
    expect(events.map(({ type }) => type)).toEqual([
      'transfer.pending',
      'transfer.running',
      'transfer.success',
    ])
  })

  test('a business belongs to the first project that uses it, and is free when that is deleted', async () => {
    const { join, first, ledger, projectId } = await setup()
    await join()
    const other = await newProject(ledger)
    await expect(first.transfers.request(other, request())).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(first.transfers.request(other, request({ biz_id: 7 }))).resolves.toBeDefined()
    await expect(join({ biz_id: 7 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await ledger.db.updateTable('projects').set({ deleted_at: 1 }).where('id', '=', projectId).execute()
    await expect(first.transfers.request(other, request({ app_id: 9 }))).resolves.toBeDefined()
  })

  test('two projects that race for a business: one has it, the other is refused', async () => {
    const { instances, ledger, projectId } = await setup({ instances: 2 })
    const other = await newProject(ledger)
    const outcomes = await Promise.allSettled([
      instances[0]?.transfers.request(projectId, request({ biz_id: 9 })),
      instances[1]?.transfers.request(other, request({ biz_id: 9, app_id: 3 })),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('a project sends only to the agents that it was given', async () => {
    const { join, first, ledger, projectId } = await setup()
    await ledger.transaction((tx) => first.transfers.setAgents(tx, projectId, ['web-*', 'agent-9']))
    await expect(join()).rejects.toMatchObject({ code: 'AGENT_NOT_ALLOWED' })
    await expect(join({ target_agent_id: 'web-12' })).resolves.toBeDefined()
    await expect(join({ target_agent_id: 'agent-9' })).resolves.toBeDefined()
    await ledger.transaction((tx) => first.transfers.setAgents(tx, projectId, null))
    await expect(join()).resolves.toBeDefined()
  })

  test('one refused request does not take the others of its transaction with it', async () => {
    const { join, first, ledger } = await setup()
    const other = await newProject(ledger)
    await join()
    const outcomes = await Promise.allSettled([
      join({ target_agent_id: 'a' }),
      first.transfers.request(other, request()),
      join({ target_agent_id: 'b' }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('after its time an ended transfer is gone, with everything that belonged to it', async () => {
    const { join, clock, first, ledger } = await setup()
    const { taskId } = await join()
    await clock.move(WINDOW_MS)
    await runDue(first)
    await clock.move(1800 * 1000)
    await first.engine.retention.runOnce(new AbortController().signal)
    await expect(first.transfers.task(taskId)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    for (const table of ['transfer_windows', 'transfer_targets', 'transfer_tasks'] as const)
      expect(await ledger.db.selectFrom(table).selectAll().execute()).toEqual([])
  })
})
