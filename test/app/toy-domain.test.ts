import type { FastifyPluginAsync } from 'fastify'
import { describe, expect, test } from 'vitest'
import { entry } from '../../src/app/domains/domain-table.ts'
import type { Domain, Ground } from '../../src/domain/index.ts'
import type { HttpDeps } from '../../src/http/index.ts'
import type { JobKind } from '../../src/jobs/index.ts'
import { newId } from '../../src/kernel/index.ts'
import type { Tx } from '../../src/ledger/index.ts'
import { availableBackends } from '../support/backends.ts'
import { bearer, openEvents, openSocket } from '../support/event-readers.ts'
import { newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

// A fifth kind of work, made of nothing but what docs/architecture.md says in "How to add a kind of work".

interface ToyOrder {
  projectId: string
  taskId: string
  name: string
}

interface Toys {
  order(tx: Tx, projectId: string, name: string): Promise<string>
  toy(taskId: string): Promise<{ task_id: string; status: string; toy: string | null }>
}

function openToys(calls: string[]) {
  return async ({ engine }: Ground, { paint }: { paint: string }): Promise<Domain<Toys>> => {
    const kind: JobKind<ToyOrder, { toy: string }> = {
      name: 'toy',
      domain: 'toys',
      pool: 'toys',
      slots: 2,
      async run({ job: { id, payload }, transaction }) {
        const { projectId, taskId, name } = payload
        const event = { type: 'toy.painted', kind: 'toy', projectId, taskId, jobId: id, data: { paint } }
        await transaction((tx) => engine.emit(tx, event))
        return { toy: `${paint} ${name}` }
      },
    }
    const api: Toys = {
      async order(tx, projectId, name) {
        const taskId = newId()
        const payload = { projectId, taskId, name }
        await engine.enqueue(tx, { kind: 'toy', payload, tasks: [{ id: taskId, projectId }] })
        return taskId
      },
      async toy(taskId) {
        const found = await engine.jobs.task(taskId)
        const result = found?.job.result as { toy: string } | null | undefined
        return { task_id: taskId, status: found?.job.state ?? 'gone', toy: result?.toy ?? null }
      },
    }
    const duty = (name: string) => ({ name, runOnce: async () => void calls.push(name) })
    return {
      name: 'toys',
      api,
      kinds: [kind],
      duties: [
        { duty: duty('leader duty'), everyMs: 60_000, runs: 'leader' },
        { duty: duty('local duty'), everyMs: 60_000, runs: 'local' },
      ],
      views: { toy: { get: (taskId) => api.toy(taskId) } },
      overview: { kind: 'toy' },
      start: () => void calls.push('start'),
      serve: () => void calls.push('serve'),
      drain: async () => void calls.push('drain'),
      disconnect: async () => void calls.push('disconnect'),
      stop: () => void calls.push('stop'),
    }
  }
}

const toyRoutes =
  ({ ledger }: HttpDeps, toys: Toys): FastifyPluginAsync =>
  async (app) => {
    const schema = { body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } }
    app.post('/api/toys', { config: { access: 'project' }, schema }, async ({ principal, body }, reply) => {
      if (principal?.role !== 'project') throw new Error('the route takes keys of projects alone')
      const { name } = body as { name: string }
      const task_id = await ledger.transaction((tx) => toys.order(tx, principal.project.id, name))
      return reply.code(202).send({ task_id })
    })
    app.get('/api/toys/:task_id', async ({ params }) => toys.toy((params as { task_id: string }).task_id))
  }

describe.each(availableBackends())('a domain from outside, on %s', (name) => {
  test('has its jobs, routes, events, duties, metrics and its stop by one line of the table', async () => {
    const calls: string[] = []
    const toys = entry(openToys(calls), () => ({ paint: 'red' }), toyRoutes)
    const wharf = await startHttp(name, { domains: { toys } })
    const { key, id: projectId } = await newProject(wharf)
    const reader = await openEvents(`${wharf.address}/api/events?after=0`, bearer(key))

    const answer = await wharf.ask('POST', '/api/toys', { key, body: { name: 'bear' } })
    expect(answer.status).toBe(202)
    const { task_id } = (await answer.json()) as { task_id: string }
    await reader.until('toy.succeeded', task_id)
    const events = reader.messages.filter((message) => message.task_id === task_id)
    expect(events.map(({ type }) => type)).toEqual([
      'toy.pending',
      'toy.processing',
      'toy.painted',
      'toy.succeeded',
    ])
    expect(events[2]).toMatchObject({ project_id: projectId, paint: 'red' })

    const made = { task_id, status: 'succeeded', toy: 'red bear' }
    expect(await (await wharf.ask('GET', `/api/toys/${task_id}`, { key })).json()).toEqual(made)
    const { messages } = await openSocket(`${wharf.address}/ws?task_id=${task_id}`, bearer(key))
    await until('the watcher has its state', () => messages.length > 0)
    expect(messages[0]).toMatchObject({ ...made, type: 'toy.succeeded' })
    const metrics = await (await wharf.ask('GET', '/metrics')).text()
    expect(metrics).toContain('wharf_jobs{domain="toys",kind="toy",state="running"} 0')
    expect(metrics).toContain('wharf_worker_slots{pool="toys"} 2')

    await until('both duties have run', () =>
      ['leader duty', 'local duty'].every((duty) => calls.includes(duty)),
    )
    await wharf.stop()
    const phases = calls.filter((call) => !call.includes('duty'))
    expect(phases).toEqual(['start', 'serve', 'drain', 'disconnect', 'stop'])
  })
})
