import { credentials, type ServiceError } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { AppError, ERRORS, systemClock } from '../../src/kernel/index.ts'
import { unforeseenErrors } from '../../src/kernel/unforeseen.ts'
import { GrpcServer } from '../../src/processing/grpc/grpc-server.ts'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'
import { silentLog } from '../support/backends.ts'
import { eventually } from '../support/engines.ts'
import { fleet, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { forgive } from '../support/no-unforeseen.ts'

const broken = () => Promise.reject(new TypeError('nobody thought of this'))

test('every answer INTERNAL is counted as an error that nobody foresaw', async () => {
  const { ask, projects } = await startHttp()
  const before = unforeseenErrors()
  projects.list = broken
  const answer = await ask('GET', '/api/projects', { key: ADMIN_TOKEN })
  expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'INTERNAL' }])
  expect(unforeseenErrors() - before).toBe(1)
  forgive(1)
  const metrics = await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text()
  expect(metrics).toContain(`wharf_unforeseen_errors_total ${before + 1}`)
  expect(metrics).toContain('wharf_problems_total{code="INTERNAL"} 1')
  // What was foreseen is not.
  expect((await ask('GET', '/api/exports/none', { key: ADMIN_TOKEN })).status).toBe(404)
  expect(unforeseenErrors() - before).toBe(1)
})

test('so is a gRPC call that fails for such a reason', async () => {
  const service = { status: broken, getStatus: broken, get: broken } as never
  const server = new GrpcServer(
    { service, healthy: async () => undefined, clock: systemClock, log: silentLog } as never,
    { host: '127.0.0.1', port: 0, token: null, tls: null },
  )
  await server.start()
  const { TaskService } = loadTaskProto()
  const client = new TaskService(server.address, credentials.createInsecure()) as unknown as {
    GetTaskStatus(request: object, done: (error: ServiceError | null) => void): void
    close(): void
  }
  onTestFinished(async () => {
    client.close()
    await server.drain()
    await server.disconnect(AbortSignal.abort())
  })
  const before = unforeseenErrors()
  const error = await new Promise<ServiceError | null>((resolve) =>
    client.GetTaskStatus({ task_id: 'a' }, resolve),
  )
  expect(error?.details).toBe('something broke inside Wharf')
  expect(unforeseenErrors() - before).toBe(1)
  forgive(1)
})

test('so is a job that ends with one', async () => {
  const { instance } = await fleet('embedded')
  const { kind, nth } = ledByHand('work')
  const { engine, ...made } = await instance([kind])
  await submit({ engine, ...made }, 'work')
  const run = await nth(1)
  const before = unforeseenErrors()
  run.fail(new AppError(ERRORS.INTERNAL, 'nobody thought of this', { retryable: false }))
  await eventually(engine, ({ type }) => type === 'work.failed')
  expect(unforeseenErrors() - before).toBe(1)
  forgive(1)
})
