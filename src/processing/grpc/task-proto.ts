import { fileURLToPath } from 'node:url'
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'
import type { TaskStatus } from '../task.ts'

const FILE = fileURLToPath(new URL('../../../proto/task/v1/task.proto', import.meta.url))

export interface CreateTaskRequest {
  temp_file_path: string
  original_filename: string
}

export interface CreateTaskResponse {
  task_id: string
}

export interface GetTaskStatusRequest {
  task_id: string
}

export interface GetTaskStatusResponse {
  task_id: string
  status: TaskStatus
  result_path: string
  error_message: string
}

/** `proto/task/v1/task.proto`, loaded: for the server, for reflection, and for clients in tests and benchmarks. */
export function loadTaskProto(): { definition: PackageDefinition; TaskService: ServiceClientConstructor } {
  const definition = loadSync(FILE, { keepCase: true, enums: String, defaults: true })
  const loaded = loadPackageDefinition(definition) as unknown as {
    task: { v1: { TaskService: ServiceClientConstructor } }
  }
  return { definition, TaskService: loaded.task.v1.TaskService }
}
