import { parentPort } from 'node:worker_threads'
import type { Failure } from './failure.ts'
import type { TaskModule } from './task-function.ts'

export interface WorkerRequest {
  id: number
  module: string
  name: string
  /** Missing: the module is only to be loaded. */
  task?: unknown
}

export type WorkerAnswer = { id: number; result: unknown } | { id: number; failure: Failure }

// Loads nothing but what its tasks need: a thread's start is part of every first export's time.
const port = parentPort
if (port === null) throw new Error('worker.ts runs as a worker thread only')
const modules = new Map<string, TaskModule>()

async function answer({ id, module, name, task }: WorkerRequest): Promise<void> {
  let loaded = modules.get(module)
  if (!loaded) {
    loaded = (await import(module)) as TaskModule
    modules.set(module, loaded)
  }
  if (task === undefined) return post({ id, result: undefined })
  const { result, transfer = [] } = await loaded[name]!(task)
  post({ id, result }, transfer)
}

function post(message: WorkerAnswer, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer)
}

/** Errors lose their class and their fields when they leave a thread; these are kept by hand. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, details, retryable } = error as Error & Partial<Failure>
  return {
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(details && { details }),
    ...(retryable !== undefined && { retryable }),
  }
}

port.on('message', (request: WorkerRequest) => {
  // biome-ignore lint/plugin: a thread loads nothing that it does not need.
  answer(request).catch((error: unknown) => post({ id: request.id, failure: failureOf(error) }))
})
