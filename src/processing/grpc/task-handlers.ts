import {
  type handleUnaryCall,
  type ServerUnaryCall,
  status as Status,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { AppError, ERRORS, isAppError, traced, unforeseen } from '../../kernel/index.ts'
import { TEXT } from '../task.ts'
import type { TaskService } from '../task-service.ts'
import type { OpenCalls } from './open-calls.ts'
import type {
  CreateTaskRequest,
  CreateTaskResponse,
  GetTaskStatusRequest,
  GetTaskStatusResponse,
} from './task-proto.ts'

/** The methods of `task.v1.TaskService`: translate in, translate out. */
export function taskHandlers({
  service,
  calls,
}: {
  service: TaskService
  calls: OpenCalls
}): UntypedServiceImplementation {
  const answer =
    <Q, R>(work: (request: Q, signal: AbortSignal) => Promise<R>): handleUnaryCall<Q, R> =>
    (call, callback) => {
      const { signal, settle } = cancelSignal(call)
      calls.begin()
      traceOf(call, () => work(call.request, signal))
        .finally(settle)
        .then(
          (response) => callback(null, response),
          (error) => callback(toStatus(error, signal)),
        )
        .finally(() => calls.end())
    }
  return {
    CreateTask: answer<CreateTaskRequest, CreateTaskResponse>(async (request, signal) => ({
      task_id: await service.create(
        { tempFilePath: request.temp_file_path, originalFilename: request.original_filename },
        signal,
      ),
    })),
    GetTaskStatus: answer<GetTaskStatusRequest, GetTaskStatusResponse>(async ({ task_id }) => {
      const record = await service.status(task_id)
      return {
        task_id: record.taskId,
        status: record.status,
        result_path: record.resultPath,
        error_message: record.errorMessage,
      }
    }),
  }
}

/** One span per call, below the caller's `traceparent` where its metadata has one. */
function traceOf<R>(call: ServerUnaryCall<unknown, unknown>, work: () => Promise<R>): Promise<R> {
  const parent = call.metadata.get('traceparent')[0]?.toString() ?? null
  return traced(
    call.getPath().slice(1),
    { kind: 'server', parent, attributes: { 'rpc.system': 'grpc' } },
    work,
  )
}

/**
 * Aborts when the caller hangs up or its deadline passes. The library says 'cancelled' of every call in the end, also of
 * one that was answered; an abort is not cheap, so `settle` stops listening.
 */
function cancelSignal(call: ServerUnaryCall<unknown, unknown>) {
  const abort = new AbortController()
  const cancel = () => abort.abort()
  if (call.cancelled) cancel()
  else call.once('cancelled', cancel)
  return { signal: abort.signal, settle: () => call.off('cancelled', cancel) }
}

function toStatus(error: unknown, signal: AbortSignal): Partial<StatusObject> {
  if (signal.aborted) return { code: Status.CANCELLED, details: 'the caller went away' }
  const known = isAppError(error) ? error : undefined
  if (!known || known.kind === ERRORS.INTERNAL) unforeseen('a gRPC call failed', error)
  if (known?.kind === ERRORS.LEDGER_UNAVAILABLE)
    return { code: Status.UNAVAILABLE, details: TEXT.storeUnavailable }
  const told = known ?? new AppError(ERRORS.INTERNAL, 'something broke inside Wharf')
  return { code: told.kind.grpc, details: told.message }
}
