import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'

const CALLERS = 32

export type Made = { path: string; id: string }

/** Makes a task of each file that waits, many at a time, until the server no longer answers. */
export async function createAll(
  address: string,
  waiting: string[],
  onAnswer: (made: Made) => unknown,
): Promise<void> {
  const { TaskService } = loadTaskProto()
  const client = new TaskService(address, credentials.createInsecure())
  const caller = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const request = { temp_file_path: path, original_filename: 'film.mp4' }
      const id = await new Promise<string | undefined>((resolve) => {
        client.CreateTask?.(request, (_: unknown, answer?: { task_id: string }) => resolve(answer?.task_id))
      })
      if (id === undefined) return
      onAnswer({ path, id })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  client.close()
}

/** Which task has which file: by what is in it. */
export function tasksOnDisk(videos: string): Map<string, string> {
  const ids = readdirSync(videos).filter((name) => name !== '.handoff')
  return new Map(ids.map((id) => [readFileSync(join(videos, id, 'original.mp4'), 'utf8'), id]))
}

/** Asks once; answers what came back, an error included. */
export async function callTask(
  address: string,
  request: Record<string, string>,
  method: 'CreateTask' | 'GetTaskStatus' = 'CreateTask',
): Promise<unknown> {
  const { TaskService } = loadTaskProto()
  const client = new TaskService(address, credentials.createInsecure())
  const answer = await new Promise((resolve) => {
    client[method]?.(request, (error: unknown, made: unknown) => resolve(error ?? made))
  })
  client.close()
  return answer
}
