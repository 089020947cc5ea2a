import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AppError, ERRORS } from '../../src/kernel/index.ts'
import { type TaskDetails, taskError } from '../../src/processing/task.ts'
import type { TaskService } from '../../src/processing/task-service.ts'
import { UploadFinisher } from '../../src/processing/upload-finisher.ts'
import { OWNER } from '../../src/processing/upload-owner.ts'
import type { UploadRoom } from '../../src/processing/upload-room.ts'
import { UploadServer } from '../../src/processing/uploads.ts'
import { silentLog } from '../support/backends.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const id = '01a1e16d-a109-7000-9784-71150fbe9e80'
const tus = { 'tus-resumable': '1.0.0' }

describe('an upload whose bytes are all here while another request makes its task', () => {
  /** What HEAD answers. */
  async function lookAt(
    service: Partial<TaskService>,
    { folder = temporaryFolder(), projectId = 'p1' } = {},
  ) {
    const room = { release: async () => undefined } as unknown as UploadRoom
    const deps = { service: service as TaskService, room }
    const finisher = new UploadFinisher({ ...deps, log: silentLog }, folder)
    const limits = { path: '/api/uploads', folder, maxBytes: 9, ttlMs: 1_000, elsewhere: '' }
    const told = {
      problemType: 'application/problem+json',
      problemOf: ({ code }: AppError) => `{"${code}":1}`,
    }
    const server = new UploadServer({ ...deps, finisher }, { ...limits, ...told })
    const uploader = { projectId, requestId: 'r', language: 'en' } as const
    const listening = createServer((request, response) => void server.answer(request, response, uploader))
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void listening.close())
    const { port } = listening.address() as { port: number }
    const answer = await fetch(`http://127.0.0.1:${port}/api/uploads/${id}`, {
      method: 'HEAD',
      headers: tus,
    })
    if (answer.status === 423) expect(answer.headers.get('retry-after')).toBe('1')
    return [answer.status, answer.headers.get('upload-offset'), answer.headers.get('task-id')]
  }
  /** Puts the whole upload into a folder. */
  function putInto(folder: string): string {
    writeFileSync(join(folder, id), '12345')
    const note = { id, size: 5, offset: 0, metadata: { [OWNER]: 'p1' } }
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(note))
    return folder
  }
  const task = { projectId: 'p1', size: 5 } as TaskDetails

  /** Makes the task when it is asked to. */
  function maker() {
    const made: string[] = []
    const create: TaskService['create'] = async (asked) => String(made.push(asked.id ?? ''))
    return { made, create, settled: async () => (made.length > 0 ? task : undefined) }
  }

  test('is complete once there is a task, which the question makes if nobody else does', async () => {
    const service = maker()
    expect(await lookAt(service, { folder: putInto(temporaryFolder()) })).toEqual([200, '5', id])
    expect(service.made).toEqual([id])
  })

  test('is not complete, and stays, while the task may still be taken back', async () => {
    const folder = putInto(temporaryFolder())
    expect(await lookAt({ settled: async () => 'open' }, { folder })).toEqual([423, null, null])
    expect(readdirSync(folder)).toEqual([id, `${id}.json`])
  })

  test('is complete, too, when it is put back between the look at its place and the one at the tasks', async () => {
    const folder = temporaryFolder()
    const service = maker()
    const settled = async () => {
      if (readdirSync(folder).length === 0) putInto(folder)
      return service.settled()
    }
    expect(await lookAt({ ...service, settled }, { folder })).toEqual([200, '5', id])
    expect(service.made).toEqual([id])
  })

  test('is complete for who asks when it has become a task, and does not exist for a stranger', async () => {
    const service = { settled: async () => task }
    expect(await lookAt(service)).toEqual([200, '5', id])
    expect(await lookAt(service, { projectId: 'p2' })).toEqual([404, null, null])
    const folder = putInto(temporaryFolder())
    expect(await lookAt(service, { projectId: 'p2', folder })).toEqual([404, null, null])
  })
})

test('whoever would finish an upload that another request is just taking over is told to ask again', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, id), 'bytes')
  let looks = 0
  const service = {
    settled: async () => (looks++ === 0 ? undefined : 'open'),
    create: async () => Promise.reject(taskError(ERRORS.HANDOFF_FAILED, 'handOffFailed')),
  } as unknown as TaskService
  const finisher = new UploadFinisher({ service, room: {} as UploadRoom, log: silentLog }, folder)
  await expect(finisher.finish(id, {})).rejects.toMatchObject({ code: 'UPLOAD_LOCKED', retryAfter: 1 })
})
