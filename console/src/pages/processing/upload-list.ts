import { type DetailedError, Upload } from 'tus-js-client'
import { ownHeaders } from '../../api/session.ts'
import { UPLOADS } from '../../api/tasks.ts'
import { Rates } from '../../live/rates.ts'
import { Store } from '../../store.ts'

export interface UploadView {
  id: number
  fileName: string
  size: number
  sent: number
  /** Where it went on, if it did not begin at the beginning. */
  resumedAt: number | null
  state: 'uploading' | 'waiting' | 'paused' | 'failed'
  error: unknown
}

/** A server that is restarted, a cable that was pulled: after the last pause it is the person's turn. */
const RETRY_DELAYS = [0, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 60_000]
const PIECE_BYTES = 16 * 1024 * 1024

/** Uploads under way. They belong to the tab, not to the page: whoever looks elsewhere meanwhile loses nothing. */
class UploadList {
  readonly views = new Store<readonly UploadView[]>([])
  readonly rates = new Rates()
  readonly #uploads = new Map<number, Upload>()
  /** Those whose first word of progress is where they go on. */
  readonly #resuming = new Set<number>()
  #next = 1

  add(file: File): void {
    const id = this.#next++
    const view = { fileName: file.name, size: file.size, sent: 0, resumedAt: null, error: null }
    this.views.set([...this.views.get(), { id, state: 'uploading', ...view }])
    const upload = new Upload(file, {
      endpoint: UPLOADS,
      chunkSize: PIECE_BYTES,
      retryDelays: RETRY_DELAYS,
      removeFingerprintOnSuccess: true,
      metadata: { filename: file.name, filetype: file.type },
      headers: ownHeaders(),
      onShouldRetry: (error) => {
        const again = mayPass(error)
        if (again) this.#change(id, { state: 'waiting' })
        return again
      },
      onProgress: (sent) => {
        this.rates.note(String(id), sent, Date.now())
        const resumed = this.#resuming.delete(id) && sent > 0
        this.#change(id, { sent, state: 'uploading', ...(resumed && { resumedAt: sent }) })
      },
      onSuccess: () => this.#forget(id),
      onError: (error) => this.#ended(id, error),
    })
    this.#uploads.set(id, upload)
    void this.#begin(id, upload)
  }

  pause(id: number): void {
    void this.#uploads.get(id)?.abort()
    this.rates.forget(String(id))
    this.#change(id, { state: 'paused' })
  }

  resume(id: number): void {
    this.#change(id, { state: 'uploading', error: null })
    this.#uploads.get(id)?.start()
  }

  /** What arrived so far is deleted there, too, if the server can be reached. */
  giveUp(id: number): void {
    this.#uploads
      .get(id)
      ?.abort(true)
      .catch(() => undefined)
    this.#forget(id)
  }

  /** The same file, begun before a reload or in another tab, goes on where it was. */
  async #begin(id: number, upload: Upload): Promise<void> {
    const [before] = await upload.findPreviousUploads()
    if (before) {
      upload.resumeFromPreviousUpload(before)
      this.#resuming.add(id)
    }
    upload.start()
  }

  #ended(id: number, error: Error | DetailedError): void {
    this.rates.forget(String(id))
    if (mayPass(error)) this.#change(id, { state: 'paused', error: null })
    else this.#change(id, { state: 'failed', error: toldBy(error) })
  }

  #change(id: number, change: Partial<UploadView>): void {
    this.views.set(this.views.get().map((view) => (view.id === id ? { ...view, ...change } : view)))
  }

  #forget(id: number): void {
    this.#uploads.delete(id)
    this.rates.forget(String(id))
    this.views.set(this.views.get().filter((view) => view.id !== id))
  }
}

/** No answer, or one that may be another next time. */
function mayPass(error: Error | DetailedError): boolean {
  const status = statusOf(error)
  return status === 0 || status >= 500 || status === 409 || status === 423 || status === 429
}

function statusOf(error: Error | DetailedError): number {
  return ('originalResponse' in error && error.originalResponse?.getStatus()) || 0
}

function toldBy(error: Error | DetailedError): unknown {
  const body = 'originalResponse' in error ? (error.originalResponse?.getBody() ?? '') : ''
  try {
    const { detail = '', code } = JSON.parse(body) as { detail?: string; code?: string }
    if (code) return { code, message: detail }
  } catch {}
  return error
}

export const uploads = new UploadList()
