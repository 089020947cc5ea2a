import type { WaitingFor } from '../../jobs/index.ts'
import { type Clock, ERRORS, isAppError, type Log } from '../../kernel/index.ts'
import type { TaskStore } from '../stores/index.ts'
import { type TaskRow, type TaskRows, toDetails, toRecord, tryOf } from '../stores/index.ts'
import {
  encodeMessage,
  hasEnded,
  isTaskStatus,
  type NewTask,
  type OneTry,
  readReport,
  type TaskDetails,
  type TaskRecord,
  TEXT,
  taskError,
} from '../task.ts'
import { type RedisLink, storeUnavailable } from './redis-link.ts'

/** How soon the ledger follows a Redis that is back. */
const LOOK_AGAIN_MS = 2_000
/** How long an answer proves that Redis does not hang. */
const ANSWER_HOLDS_MS = 60_000

export interface RedisStoreDeps {
  link: RedisLink
  rows: TaskRows
  clock: Clock
  log: Log
}

/**
 * Tasks in Redis, as processors in any language know them, with a row in the ledger each. Redis is what is asked until the
 * row has an end, which stays; the row is what Redis is filled from again when it lost its memory.
 */
export class RedisTaskStore implements TaskStore {
  readonly #deps: RedisStoreDeps
  /** Since when this instance has found Redis away. */
  #awaySince: number | undefined
  #answeredAt = Number.NEGATIVE_INFINITY

  constructor(deps: RedisStoreDeps) {
    this.#deps = deps
  }

  async create(task: NewTask): Promise<boolean> {
    const { rows } = this.#deps
    const createdAt = await rows.insert(task)
    if (createdAt === undefined) {
      // An earlier try is still to be taken back, which takes seconds.
      if (await rows.isRevoked(task.id))
        throw storeUnavailable(new Error('an earlier try is being taken back'))
      return false
    }
    const answer = await this.#push(task, Math.floor(createdAt / 1000)).catch(async (cause) => {
      // Whether Redis carried it out is unknown: the row remembers to take it back.
      await rows
        .change(task.id, { status: 'REVOKED' })
        .catch((error) =>
          this.#deps.log.warn({ err: error, taskId: task.id }, 'a failed task was not revoked'),
        )
      throw storeUnavailable(cause)
    })
    if (answer === 'refused') {
      await rows.change(task.id, { status: 'FAILED', error_message: TEXT.enqueueFailed })
      throw taskError(ERRORS.TASK_ENQUEUE_FAILED, 'enqueueFailed')
    }
    return true
  }

  async isMade(id: string): Promise<boolean> {
    return (await this.#deps.rows.get(id)) !== undefined
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const [record, row] = await Promise.all([this.#read(id), this.#deps.rows.get(id)])
    if (row && (!record || (await this.#isOver(row, record)))) return toRecord(row)
    return record
  }

  async details(id: string): Promise<TaskDetails | undefined> {
    const { link, rows } = this.#deps
    const [read, row, progress] = await Promise.all([
      this.#read(id).then(
        (record) => ({ record }),
        (error: unknown) => ({ error }),
      ),
      rows.get(id),
      link.redis.get(link.progressKey(id)).catch(() => null),
    ])
    if ('error' in read) {
      const waiting = this.#waiting(read.error)
      if (row && waiting) return { ...toDetails(row), waitingFor: waiting }
      throw read.error
    }
    this.#awaySince = undefined
    const { record } = read
    if (row && record && (await this.#isOver(row, record))) return toDetails(row)
    if (row && record) return { ...toDetails(row), ...record, ...readReport(progress) }
    if (row) return toDetails(row)
    if (record && (await rows.isRevoked(id))) return undefined
    // Made by another program that shares this Redis.
    const unknown = { projectId: null, fileName: '', size: 0, progress: null, expiresAt: 0 }
    return record && { ...record, ...unknown }
  }

  away(): WaitingFor | undefined {
    if (this.#deps.link.redis.status === 'ready') return undefined
    return this.#waiting(storeUnavailable(new Error('Redis is not connected')))
  }

  async cancel(id: string): Promise<'cancelled' | 'ended' | 'unknown'> {
    const { link, rows, clock } = this.#deps
    const record = await this.get(id)
    if (!record) return 'unknown'
    if (hasEnded(record.status)) return 'ended'
    const keys = [link.taskKey(id), link.options.queueKey, link.processorsKey]
    const message = encodeMessage(id, record.originalFilePath)
    const seconds = Math.floor(clock.now() / 1000)
    const answer = await link
      .run('cancel', keys, [message, seconds, link.options.ttlSeconds, TEXT.cancelled, link.slotPrefix])
      .catch((cause) => {
        throw storeUnavailable(cause)
      })
    if (answer !== 1) return answer === 0 ? 'ended' : 'unknown'
    await rows.change(id, { status: 'FAILED', error_message: TEXT.cancelled })
    return 'cancelled'
  }

  async remove(task: OneTry): Promise<void> {
    await this.#deps.link.removeTask(task)
    await this.#deps.rows.delete(task)
  }

  /** What the ledger knows of a task is still true while Redis is away; the task goes on when it is back. */
  #waiting(error: unknown): WaitingFor | undefined {
    if (!isAppError(error, ERRORS.TASK_STORE_UNAVAILABLE)) return undefined
    const now = this.#deps.clock.now()
    this.#awaySince ??= now
    return {
      what: 'redis',
      since: new Date(this.#awaySince).toISOString(),
      code: error.code,
      message: error.message,
      next_try_at: new Date(now + LOOK_AGAIN_MS).toISOString(),
    }
  }

  async ping(): Promise<boolean> {
    const { link, clock } = this.#deps
    const age = clock.now() - this.#answeredAt
    // A connection that is closed is known at once; one that hangs is asked from time to time.
    if (link.redis.status === 'ready' && age >= 0 && age < ANSWER_HOLDS_MS) return true
    return link.redis.ping().then(
      () => {
        this.#answeredAt = clock.now()
        return true
      },
      () => false,
    )
  }

  /** The row has an end, and the record says something else: it is put right, also for those who read Redis themselves. */
  async #isOver(row: EndableRow, record: TaskRecord): Promise<boolean> {
    if (!contradicts(row, record)) return false
    const { link, rows, log } = this.#deps
    await rows.ledger
      .now()
      .then((now) => putEndRight(link, row, now))
      .catch((err: unknown) => log.debug({ err, taskId: row.id }, 'an older record was not put right'))
    return true
  }

  async #push(task: NewTask, seconds: number): Promise<unknown> {
    const { link } = this.#deps
    const fields = toFields({
      taskId: task.id,
      status: 'PENDING',
      originalFilePath: task.originalFilePath,
      resultPath: '',
      errorMessage: '',
      createdAt: seconds,
      updatedAt: seconds,
    })
    const message = encodeMessage(task.id, task.originalFilePath)
    const keys = [link.taskKey(task.id), link.options.queueKey]
    if (task.trace) fields.push('traceparent', task.trace)
    const args = [message, link.options.ttlSeconds, TEXT.enqueueFailed, seconds, ...fields]
    return link.run('create', keys, args)
  }

  async #read(id: string): Promise<TaskRecord | undefined> {
    const { link } = this.#deps
    try {
      const hash = await link.record(id)
      // A processor wrote after the end. Others who read Redis themselves shall see the end, too.
      if (hash.end_status !== undefined && hash.end_status !== hash.status)
        await link.run('seal', [link.taskKey(id)], ['', '', '', 0, '', ''])
      return fromHash(hash)
    } catch (error) {
      // The queue is called like the record of a task 'pending' would be.
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined
      throw storeUnavailable(error)
    }
  }
}

type EndableRow = TaskRow & { status: TaskRecord['status'] }

/** Whether the row has an end that the record does not have. */
export function contradicts(
  row: EndableRow,
  record: Pick<TaskRecord, 'status' | 'resultPath' | 'errorMessage'>,
) {
  if (!hasEnded(row.status)) return false
  const { status, resultPath, errorMessage } = toRecord(row)
  return status !== record.status || resultPath !== record.resultPath || errorMessage !== record.errorMessage
}

/** The first end counts: a record that has lost it gets it back, and no list holds the task any more. False where it is of a later try. */
export function putEndRight(link: RedisLink, row: EndableRow, now: number): Promise<boolean> {
  return link.putRight(tryOf(row), toFields(toRecord(row)), { seconds: secondsLeft(row, now) })
}

export function secondsLeft({ expires_at }: Pick<TaskRow, 'expires_at'>, now: number): number {
  return Math.max(1, Math.ceil((expires_at - now) / 1000))
}

/** The seven fields of a record, flat, as HSET takes them, and what makes an end final. */
export function toFields(record: TaskRecord): string[] {
  const { status, resultPath, errorMessage } = record
  return [
    ...(hasEnded(status) ? ['end_status', status, 'end_result', resultPath, 'end_error', errorMessage] : []),
    ...['task_id', record.taskId, 'status', record.status],
    ...['original_file_path', record.originalFilePath],
    ...['result_path', record.resultPath, 'error_message', record.errorMessage],
    ...['created_at', String(record.createdAt), 'updated_at', String(record.updatedAt)],
  ]
}

function fromHash(hash: Record<string, string>): TaskRecord | undefined {
  const said = saidBy(hash)
  if (!said || hash.task_id === undefined) return undefined
  return {
    taskId: hash.task_id,
    ...said,
    originalFilePath: hash.original_file_path ?? '',
    createdAt: secondsOf(hash.created_at),
    updatedAt: secondsOf(hash.updated_at),
  }
}

/** The last second that a date can have. */
const LAST_SECOND = 8_640_000_000_000

/** A processor may have written anything. */
function secondsOf(text: string | undefined): number {
  const seconds = Number(text)
  return seconds >= 0 && seconds <= LAST_SECOND ? seconds : 0
}

/** The fields of a record that have the state of its task, as `saidBy` reads them. */
export const STANDING = [
  'status',
  'result_path',
  'error_message',
  'end_status',
  'end_result',
  'end_error',
] as const

/**
 * The state of a task. An end that was sealed counts, whatever was written later. Without its result, COMPLETED is half of
 * what a processor has to write: the task is still being worked on.
 */
export function saidBy(
  hash: Partial<Record<(typeof STANDING)[number], string | null>>,
): Pick<TaskRecord, 'status' | 'resultPath' | 'errorMessage'> | undefined {
  const sealed = isTaskStatus(hash.end_status)
  const status = sealed ? hash.end_status : hash.status
  if (!isTaskStatus(status)) return undefined
  const result = (sealed ? hash.end_result : hash.result_path) ?? ''
  const error = (sealed ? hash.end_error : hash.error_message) ?? ''
  if (status === 'COMPLETED' && result === '')
    return { status: 'PROCESSING', resultPath: '', errorMessage: '' }
  return {
    status,
    resultPath: status === 'COMPLETED' ? result : '',
    errorMessage: status === 'FAILED' ? error : '',
  }
}
