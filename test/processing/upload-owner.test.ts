import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'
import { newProject, startHttp } from '../support/http.ts'

test('[foreign-upload] an upload that becomes a task over gRPC is still its own project’s', async () => {
  const wharf = await startHttp()
  const [mine, other] = [await newProject(wharf), await newProject(wharf)]
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '9' }
  const begun = await wharf.ask('POST', '/api/uploads', { key: mine.key, headers })
  const upload = begun.headers.get('location')?.split('/').at(-1) as string
  const { TaskService } = loadTaskProto()
  const client = new TaskService(wharf.grpcAddress, credentials.createInsecure())
  const request = {
    temp_file_path: join(wharf.config.TEMP_STORAGE_PATH, upload),
    original_filename: 'film.mov',
  }
  const { task_id } = await new Promise<{ task_id: string }>((resolve, reject) =>
    client.CreateTask?.(request, (error: Error | null, answer?: { task_id: string }) =>
      answer ? resolve(answer) : reject(error),
    ),
  )
  client.close()
  const status = async (key: string) => (await wharf.ask('GET', `/api/tasks/${task_id}`, { key })).status
  expect(await status(mine.key)).toBe(200)
  expect(await status(other.key)).toBe(404)
})
