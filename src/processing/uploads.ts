import { AsyncLocalStorage } from 'node:async_hooks'
import { statfsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { EVENTS, Server, type ServerOptions, ERRORS as TUS_ERRORS } from '@tus/server'
import {
  AppError,
  background,
  ERRORS,
  type ErrorKind,
  isAppError,
  messageOf,
  newId,
  outageOf,
  systemClock,
} from '../kernel/index.ts'
import { keyedId } from './keyed-id.ts'
import type { TaskDetails } from './task.ts'
import type { TaskService } from './task-service.ts'
import { UploadFiles } from './upload-files.ts'
import { type UploadFinisher, uploadLocked } from './upload-finisher.ts'
import { OWNER } from './upload-owner.ts'
import type { UploadRoom } from './upload-room.ts'

export interface UploadServerDeps {
  service: TaskService
  room: UploadRoom
  finisher: UploadFinisher
}

export interface UploadServerOptions {
  /** The route, as callers see it. */
  path: string
  folder: string
  maxBytes: number
  ttlMs: number
  /** Added to the words for an upload that is not here. */
  elsewhere: string
  /** The body of an error's answer. */
  problemOf(error: AppError, status: number, uploader: Pick<Uploader, 'requestId' | 'language'>): string
  problemType: string
}

/** What a request is refused with: ours, or one of the protocol's library. */
type Refusal = Error | { status_code: number; body: string }

/** Who uploads, and what makes asking twice give one upload. */
export interface Uploader {
  projectId: string | null
  requestId: string
  language: 'en' | 'zh'
  idempotencyKey?: string
}

type TusRequest = Parameters<NonNullable<ServerOptions['onIncomingRequest']>>[0]
type TusContext = Parameters<Server['write']>[0]
type TusAnswer = Awaited<ReturnType<Server['write']>>

const VERSION = '1.0.0'
const PIECE_TYPE = 'application/offset+octet-stream'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** How long a request waits for the task of an upload that another one is making. */
const MOST_LOOKS = 20
const LOOK_AGAIN_MS = 100
/** Of what a client says about an upload. */
const LONGEST_VALUE = 1_024
/** In seconds, by status. */
const RETRY_AFTER: Record<number, string> = { 423: '1', 503: '2', 507: '30' }
/** A disk with less than this is full. */
const LITTLE_ROOM = 1024 * 1024

/**
 * Resumable uploads (tus 1.0) into the temp dir. An upload's id becomes its task's id, so a client that lost the answer to the
 * last piece can ask again: the upload is then complete, and making the task twice makes one task.
 */
export class UploadServer extends Server {
  readonly #service: TaskService
  readonly #finisher: UploadFinisher
  readonly #limits: UploadServerOptions
  /** Whose request is answered. */
  readonly #current = new AsyncLocalStorage<Uploader & { method: string; id: string }>()

  constructor({ service, room, finisher }: UploadServerDeps, options: UploadServerOptions) {
    const { folder, maxBytes, path } = options
    super({
      path,
      maxSize: maxBytes,
      relativeLocation: true,
      // Pages of other origins get no answer that they may read, as everywhere else in the API.
      allowedOrigins: [],
      datastore: new UploadFiles({ directory: folder }),
      namingFunction: () => this.#name(),
      onUploadCreate: async (_request, upload) => {
        const { projectId } = this.#uploader()
        requirePlainMetadata(upload.metadata ?? {})
        // One that does not say how long it will be may become as long as any.
        if (projectId !== null) await room.reserve(upload.id, projectId, upload.size ?? maxBytes)
        return { metadata: { ...upload.metadata, [OWNER]: projectId ?? '' } }
      },
      onIncomingRequest: (request, id) => this.#admit(request, id),
      onUploadFinish: async (_request, upload) => {
        await finisher.finish(upload.id, upload.metadata ?? {})
        return { headers: { 'Task-Id': upload.id } }
      },
      onResponseError: async (_request, error) => this.#translate(await this.#explained(error)),
    })
    this.#service = service
    this.#finisher = finisher
    this.on(EVENTS.POST_TERMINATE, (_request, _response, id) =>
      background('giving back the room of an upload', room.release(id)),
    )
    this.#limits = options
    const { HEAD } = this.handlers
    const tell = HEAD.send.bind(HEAD)
    HEAD.send = async (...request) => {
      const answer = await tell(...request)
      // The bytes are here, but is there a task? The same is asked about an upload that is gone.
      if (saysComplete(answer.headers)) throw TUS_ERRORS.FILE_NOT_FOUND
      return answer
    }
  }

  async answer(request: IncomingMessage, response: ServerResponse, uploader: Uploader): Promise<void> {
    if (request.method === 'POST') {
      response.setHeader('Upload-Expires', new Date(Date.now() + this.#limits.ttlMs).toUTCString())
    }
    const about = { method: request.method ?? '', id: request.url?.split('?')[0]?.split('/').at(-1) ?? '' }
    await this.#current.run({ ...uploader, ...about }, () => this.handle(request, response))
  }

  /** The upload that was made with the same key before, with its size if that is known, and what has come of it. */
  async madeBefore({
    projectId,
    idempotencyKey,
  }: Uploader): Promise<{ location: string; offset: number; size?: number } | undefined> {
    if (idempotencyKey === undefined) return undefined
    const id = keyedId(projectId, idempotencyKey)
    const known = (await this.#taskOf(id)) ?? (await this.datastore.getUpload(id).catch(() => undefined))
    if (!known) return undefined
    const location = `${this.#limits.path}/${id}`
    const offset = ('offset' in known ? known.offset : known.size) ?? 0
    return known.size === undefined ? { location, offset } : { location, offset, size: known.size }
  }

  /** A task of this id has a row, which is read also while Redis is away: without one there is none, and the upload can begin. */
  #taskOf(id: string): Promise<TaskDetails | undefined> {
    return this.#service.find(id).catch((error: unknown) => {
      if (isAppError(error, ERRORS.TASK_STORE_UNAVAILABLE)) return undefined
      throw error
    })
  }

  override async write(context: TusContext, headers: Headers, status: number, body = '') {
    if (status < 400) return super.write(context, headers, status, body)
    if (status === 404 || status === 410) {
      const answered = await this.#answerComplete(context, headers)
      if (answered) return answered
    }
    return this.#refuse(context, headers, { status_code: status, body })
  }

  async #refuse(context: TusContext, headers: Headers, problem: { status_code: number; body: string }) {
    const { status_code: status, body } = problem
    const wait = RETRY_AFTER[status]
    if (wait !== undefined) headers.set('Retry-After', wait)
    headers.set('Content-Type', this.#limits.problemType)
    const told = body.startsWith('{') ? problem : this.#translate(faultOfHeaders(problem) ?? problem)
    // The protocol asks for it.
    if (told.status_code === 412) headers.set('Tus-Version', VERSION)
    return super.write(context, headers, told.status_code, told.body)
  }

  /**
   * A client that asks how far it is hears that it is complete once there is a task, never before; one that sends a piece is told to
   * ask, and one that gives it up that it is a task.
   */
  async #answerComplete(context: TusContext, headers: Headers): Promise<TusAnswer | undefined> {
    const { id, method, ...uploader } = this.#uploader()
    if (!UUID.test(id)) return undefined
    try {
      const size = await this.#sizeOfTask(id, uploader)
      if (size === undefined) return undefined
      if (method === 'PATCH') throw uploadLocked(id)
      if (method === 'DELETE')
        throw new AppError(ERRORS.UPLOAD_NOT_FOUND, `upload ${id} is complete; delete task ${id} instead`)
      const found = { 'Upload-Offset': String(size), 'Upload-Length': String(size), 'Task-Id': id }
      for (const [name, value] of Object.entries(found)) headers.set(name, value)
      return await super.write(context, headers, 200, '')
    } catch (error) {
      return this.#refuse(context, headers, this.#translate(error as Error))
    }
  }

  /**
   * Also completes an upload whose bytes are all here while its task is not made yet, and waits for another request that does: of
   * an upload that seems gone its client would begin again from nothing.
   */
  async #sizeOfTask(id: string, { projectId }: Uploader): Promise<number | undefined> {
    // It may be put back between the look at its place and the one at the tasks.
    for (let [looks, absent] = [0, 0]; absent < 2; looks++) {
      const upload = await this.datastore.getUpload(id).catch(() => undefined)
      if (upload) {
        const isOwn = projectId === null || (upload.metadata?.[OWNER] ?? '') === projectId
        if (!isOwn || upload.size !== upload.offset) return undefined
        await this.#finisher.finish(id, upload.metadata ?? {})
        return upload.size
      }
      const known = await this.#service.settled(id)
      if (known === undefined) absent++
      else if (known !== 'open')
        return projectId === null || known.projectId === projectId ? known.size : undefined
      else if (looks === MOST_LOOKS) throw uploadLocked(id)
      else await systemClock.sleep(LOOK_AGAIN_MS)
    }
    return undefined
  }

  #name(): string {
    const { projectId, idempotencyKey } = this.#uploader()
    return idempotencyKey === undefined ? newId() : keyedId(projectId, idempotencyKey)
  }

  async #admit(request: TusRequest, id: string): Promise<void> {
    if (!UUID.test(id)) throw unknownUpload(id, this.#limits.elsewhere)
    if (request.method === 'POST') return
    const { projectId } = this.#uploader()
    const upload = await this.datastore.getUpload(id).catch(() => undefined)
    // What is not one's own does not exist.
    if (!upload || (projectId !== null && (upload.metadata?.[OWNER] ?? '') !== projectId))
      throw unknownUpload(id, this.#limits.elsewhere)
  }

  /** What the protocol's library says in a few words, with what to do. */
  async #explained(error: Refusal): Promise<Refusal> {
    if (isAppError(error) || !('status_code' in error)) return error
    const { id, method } = this.#uploader()
    const isPiece = method === 'PATCH' && UUID.test(id)
    const upload = isPiece ? await this.datastore.getUpload(id).catch(() => undefined) : undefined
    return explain(error, this.#limits.maxBytes, upload) ?? error
  }

  #translate(error: Error | { status_code: number; body: string }): { status_code: number; body: string } {
    const uploader = this.#uploader()
    const problem = (told: AppError, status: number) => ({
      status_code: status,
      body: this.#limits.problemOf(told, status, uploader),
    })
    const outage = this.#outageOf(error)
    if (outage) return problem(outage, outage.kind.http)
    const told = isAppError(error) ? error : fromTus(error)
    // The protocol gives some statuses a meaning, so its own are kept.
    const status = 'status_code' in error ? error.status_code : told.kind.http
    return problem(told, status)
  }

  /** The store of uploads says that a write failed, but not why. */
  #outageOf(error: unknown): AppError | undefined {
    if (error !== TUS_ERRORS.FILE_WRITE_ERROR) return outageOf(error)
    const { bavail, bsize } = statfsSync(this.#limits.folder)
    if (bavail * bsize >= LITTLE_ROOM) return undefined
    return new AppError(ERRORS.STORAGE_FULL, 'there is no room left for uploads', { retryAfter: 60 })
  }

  #uploader() {
    const uploader = this.#current.getStore()
    if (!uploader) throw new AppError(ERRORS.UNAUTHENTICATED, 'it is not known who uploads')
    return uploader
  }
}

function saysComplete(headers: Pick<Headers, 'get' | 'has'>): boolean {
  return headers.has('Upload-Length') && headers.get('Upload-Offset') === headers.get('Upload-Length')
}

/** A name is shown and stored: with characters that nobody sees, it would not be what it seems. */
function requirePlainMetadata(metadata: Record<string, string | null>): void {
  for (const [name, value] of Object.entries(metadata)) {
    const fault = faultOf(value ?? '')
    if (fault) throw new AppError(ERRORS.REQUEST_INVALID, `Upload-Metadata: ${name} ${fault}`)
  }
}

function faultOf(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) return 'has control characters'
  return text.length > LONGEST_VALUE ? `has more than ${LONGEST_VALUE} characters` : undefined
}

type Fault = { status_code: number; body: string }

const HEADERS: Record<string, { status: number; says: string }> = {
  'tus-resumable': {
    status: 412,
    says: `Tus-Resumable must be ${VERSION}, the one version of tus that is spoken here`,
  },
  'content-type': { status: 415, says: `Content-Type must be ${PIECE_TYPE}` },
  'upload-length': { status: 400, says: 'Upload-Length must be a whole number of bytes, from 0 on' },
  'upload-offset': { status: 400, says: 'Upload-Offset must be a whole number of bytes, from 0 on' },
  'upload-defer-length': {
    status: 400,
    says: 'Upload-Defer-Length must be 1; leave it out where Upload-Length is sent',
  },
}

/** The library answers `Invalid NAME …` and 400 to all headers; the protocol has statuses of their own for two of them. */
function faultOfHeaders({ status_code, body }: Fault): Fault | undefined {
  if (status_code === 412) return { status_code, body: HEADERS['tus-resumable']?.says ?? body }
  if (status_code !== 400 || !body.startsWith('Invalid ')) return undefined
  const names = body.trim().split(' ').slice(1)
  const [worst] = Object.keys(HEADERS).filter((name) => names.includes(name))
  const fault = worst === undefined ? undefined : HEADERS[worst]
  return fault && { status_code: fault.status, body: fault.says }
}

interface Progress {
  offset: number
  size?: number | undefined
}

/** `upload`: the one that a piece was sent to. */
function explain({ status_code, body }: Fault, maxBytes: number, upload?: Progress): Fault | undefined {
  const limit = `an upload may have at most ${maxBytes} bytes here`
  if (body === TUS_ERRORS.INVALID_CONTENT_TYPE.body)
    return { status_code: 415, body: HEADERS['content-type']?.says ?? body }
  if (body === TUS_ERRORS.INVALID_OFFSET.body && upload)
    return { status_code, body: `the upload is at byte ${upload.offset}: go on from there` }
  if (body === TUS_ERRORS.INVALID_LENGTH.body && upload)
    return {
      status_code,
      body: `Upload-Length can be said once, and not below the ${upload.offset} bytes that are here`,
    }
  if (body === TUS_ERRORS.INVALID_LENGTH.body)
    return { status_code, body: 'send either Upload-Length or Upload-Defer-Length: 1' }
  if (status_code !== 413) return undefined
  if (upload?.size === undefined) return { status_code, body: limit }
  return {
    status_code,
    body: `the upload has ${upload.size} bytes, and ${upload.offset} are here: send the rest, no more`,
  }
}

const KINDS: Record<number, ErrorKind> = {
  400: ERRORS.REQUEST_INVALID,
  403: ERRORS.FORBIDDEN,
  404: ERRORS.UPLOAD_NOT_FOUND,
  409: ERRORS.UPLOAD_REFUSED,
  410: ERRORS.UPLOAD_NOT_FOUND,
  412: ERRORS.REQUEST_INVALID,
  413: ERRORS.BODY_TOO_LARGE,
  415: ERRORS.MEDIA_TYPE_UNSUPPORTED,
  // Extensions of the protocol that are not offered.
  501: ERRORS.REQUEST_INVALID,
}

function fromTus(error: Error | { status_code: number; body: string }): AppError {
  if (error instanceof Error && !('status_code' in error)) {
    return new AppError(ERRORS.INTERNAL, messageOf(error), { cause: error })
  }
  const { status_code, body } = error as { status_code: number; body: string }
  return new AppError(KINDS[status_code] ?? ERRORS.INTERNAL, body.trim())
}

function unknownUpload(id: string, elsewhere: string): AppError {
  return new AppError(ERRORS.UPLOAD_NOT_FOUND, `there is no upload ${id}${elsewhere && ` here${elsewhere}`}`)
}
