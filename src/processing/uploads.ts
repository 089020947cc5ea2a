import { AsyncLocalStorage } from 'node:async_hooks'
import { statfsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { FileStore } from '@tus/file-store'
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
} from '../kernel/index.ts'
import { keyedId } from './keyed-id.ts'
import { TEXT } from './task.ts'
import type { TaskService } from './task-service.ts'
import { OWNER } from './upload-owner.ts'
import type { UploadRoom } from './upload-room.ts'

export interface UploadServerOptions {
  /** The route, as callers see it. */
  path: string
  folder: string
  maxBytes: number
  ttlMs: number
  /** Added to the words for an upload that is not here. */
  elsewhere: string
  /** The body of an error's answer. */
  problemOf(error: AppError, status: number, requestId: string): string
  problemType: string
}

/** Who uploads, and what makes asking twice give one upload. */
export interface Uploader {
  projectId: string | null
  requestId: string
  idempotencyKey?: string
}

type TusRequest = Parameters<NonNullable<ServerOptions['onIncomingRequest']>>[0]
type TusContext = Parameters<Server['write']>[0]

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A disk with less than this is full. */
const LITTLE_ROOM = 1024 * 1024

/**
 * Resumable uploads (tus 1.0) into the temp dir. An upload's id becomes its task's id, so a client that lost the answer to the
 * last piece can ask again: the upload is then complete, and making the task twice makes one task.
 */
export class UploadServer extends Server {
  readonly #service: TaskService
  readonly #room: UploadRoom
  readonly #limits: UploadServerOptions
  /** Whose request is answered. */
  readonly #current = new AsyncLocalStorage<Uploader>()

  constructor({ service, room }: { service: TaskService; room: UploadRoom }, options: UploadServerOptions) {
    const { folder, maxBytes, path } = options
    super({
      path,
      maxSize: maxBytes,
      relativeLocation: true,
      // Pages of other origins get no answer that they may read, as everywhere else in the API.
      allowedOrigins: [],
      datastore: new FileStore({ directory: folder }),
      namingFunction: () => this.#name(),
      onUploadCreate: async (_request, upload) => {
        const { projectId } = this.#uploader()
        // One that does not say how long it will be may become as long as any.
        if (projectId !== null) await room.reserve(upload.id, projectId, upload.size ?? maxBytes)
        return { metadata: { ...upload.metadata, [OWNER]: projectId ?? '' } }
      },
      onIncomingRequest: (request, id) => this.#admit(request, id),
      onUploadFinish: async (_request, upload) => this.#finish(upload.id, upload.metadata ?? {}),
      onResponseError: (_request, error) => this.#translate(error),
    })
    this.#service = service
    this.#room = room
    this.on(EVENTS.POST_TERMINATE, (_request, _response, id) =>
      background('giving back the room of an upload', room.release(id)),
    )
    this.#limits = options
  }

  /** Answers one request. A HEAD about an upload that has become a task is answered from the task. */
  async answer(request: IncomingMessage, response: ServerResponse, uploader: Uploader): Promise<void> {
    if (request.method === 'POST') {
      response.setHeader('Upload-Expires', new Date(Date.now() + this.#limits.ttlMs).toUTCString())
    }
    await this.#current.run(uploader, () => this.handle(request, response))
  }

  /** Completes an upload whose last piece arrived while no task could be made; answers its size if it is a task now. */
  async sizeOfTask(id: string, uploader: Uploader): Promise<number | undefined> {
    if (!UUID.test(id)) return undefined
    const known = await this.#service.find(id)
    if (known)
      return known.projectId === uploader.projectId || uploader.projectId === null ? known.size : undefined
    const upload = await this.datastore.getUpload(id).catch(() => undefined)
    // Its file is in the hands of another request, or waits for an answer of the ledger.
    if (!upload && (await this.#service.isUnderWay(id)))
      throw new AppError(ERRORS.TASK_STORE_UNAVAILABLE, TEXT.storeUnavailable, { retryAfter: 1 })
    const owner = upload?.metadata?.[OWNER] || null
    if (
      !upload ||
      upload.size !== upload.offset ||
      (uploader.projectId !== null && owner !== uploader.projectId)
    ) {
      return undefined
    }
    await this.#finish(id, upload.metadata ?? {})
    return upload.size
  }

  /** The upload that was made with the same key before, with its size if that is known. */
  async madeBefore({
    projectId,
    idempotencyKey,
  }: Uploader): Promise<{ location: string; size?: number } | undefined> {
    if (idempotencyKey === undefined) return undefined
    const id = keyedId(projectId, idempotencyKey)
    const known =
      (await this.#service.find(id)) ?? (await this.datastore.getUpload(id).catch(() => undefined))
    if (!known) return undefined
    const location = `${this.#limits.path}/${id}`
    return known.size === undefined ? { location } : { location, size: known.size }
  }

  override async write(context: TusContext, headers: Headers, status: number, body = '') {
    if (status < 400) return super.write(context, headers, status, body)
    headers.set('Content-Type', this.#limits.problemType)
    const problem = body.startsWith('{') ? body : this.#translate({ status_code: status, body }).body
    return super.write(context, headers, status, problem)
  }

  #name(): string {
    const { projectId, idempotencyKey } = this.#uploader()
    return idempotencyKey === undefined ? newId() : keyedId(projectId, idempotencyKey)
  }

  async #admit(request: TusRequest, id: string): Promise<void> {
    if (!UUID.test(id)) throw unknownUpload(id, this.#limits.elsewhere)
    if (request.method === 'POST') return
    const { projectId } = this.#uploader()
    if (projectId === null) return
    const upload = await this.datastore.getUpload(id).catch(() => undefined)
    // What is not one's own does not exist.
    if (!upload || (upload.metadata?.[OWNER] ?? '') !== projectId)
      throw unknownUpload(id, this.#limits.elsewhere)
  }

  async #finish(id: string, metadata: Record<string, string | null>) {
    if (!(await this.#service.find(id))) {
      const owner = metadata[OWNER]
      await this.#service
        .create({
          id,
          tempFilePath: `${this.#limits.folder}/${id}`,
          originalFilename: metadata.filename?.trim() || metadata.name?.trim() || id,
          ...(owner && { projectId: owner }),
        })
        .catch((error: unknown) => this.#notMade(id, error))
    }
    await (this.datastore as FileStore).configstore.delete(id)
    await this.#room.release(id)
    return { headers: { 'Task-Id': id } }
  }

  /** An upload that was refused is not kept. */
  async #notMade(id: string, error: unknown): Promise<void> {
    if (!isAppError(error, ERRORS.FILE_REFUSED)) return this.#unlessCompletedElsewhere(id, error)
    // What cannot be removed now is swept later, like any upload that nobody finishes.
    await this.datastore.remove(id).catch(() => undefined)
    await this.#room.release(id)
    throw error
  }

  /** A caller whose last answer was lost asks again, perhaps another instance, while the first request still works. */
  async #unlessCompletedElsewhere(id: string, error: unknown): Promise<void> {
    if (await this.#service.find(id)) return
    const stillHere = await stat(`${this.#limits.folder}/${id}`).catch(() => undefined)
    if (stillHere) throw error
    const message = `another request completes upload ${id} at this moment; ask again`
    throw new AppError(ERRORS.UPLOAD_REFUSED, message, { cause: error, retryAfter: 1 })
  }

  #translate(error: Error | { status_code: number; body: string }): { status_code: number; body: string } {
    const { requestId } = this.#uploader()
    const problem = (told: AppError, status: number) => ({
      status_code: status,
      body: this.#limits.problemOf(told, status, requestId),
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

  #uploader(): Uploader {
    const uploader = this.#current.getStore()
    if (!uploader) throw new AppError(ERRORS.UNAUTHENTICATED, 'it is not known who uploads')
    return uploader
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
