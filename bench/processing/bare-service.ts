// What one would write by hand: the same proto, mkdir and rename, HSET and RPUSH, HGETALL. No checks, no ledger, nothing
// that survives a crash.
import { randomUUID } from 'node:crypto'
import { mkdir, rename } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js'
import { Redis } from 'ioredis'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'

const { REDIS_URL = '', WHARF_DATA_DIR = '' } = process.env
const storage = join(WHARF_DATA_DIR, 'videos')
const redis = new Redis(REDIS_URL)
const server = new Server()

async function create(request: { temp_file_path: string; original_filename: string }) {
  const task_id = randomUUID()
  const path = join(storage, task_id, `original${extname(request.original_filename)}`)
  await mkdir(join(storage, task_id))
  await rename(request.temp_file_path, path)
  const time = String(Math.floor(Date.now() / 1000))
  await redis.hset(`task:${task_id}`, {
    task_id,
    status: 'PENDING',
    original_file_path: path,
    created_at: time,
    updated_at: time,
  })
  await redis.rpush('task:pending', JSON.stringify({ task_id, original_file_path: path }))
  return { task_id }
}

async function status({ task_id }: { task_id: string }) {
  const { status, result_path, error_message } = await redis.hgetall(`task:${task_id}`)
  return { task_id, status, result_path, error_message }
}

function answer<Q>(work: (request: Q) => Promise<object>) {
  return (call: ServerUnaryCall<Q, object>, callback: sendUnaryData<object>) => {
    work(call.request).then(
      (value) => callback(null, value),
      (error) => callback(error),
    )
  }
}

await mkdir(storage, { recursive: true })
server.addService(loadTaskProto().TaskService.service, {
  CreateTask: answer(create),
  GetTaskStatus: answer(status),
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  console.log(`gRPC tasks: 127.0.0.1:${port}`)
})
process.on('SIGTERM', () => process.exit(0))
