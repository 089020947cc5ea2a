import { Problem, problemOf } from './problem.ts'
import { ledgerAway } from './reachable.ts'
import { endSession, ownHeaders } from './session.ts'

export interface AskOptions {
  method?: string
  body?: unknown
  /** A body that is text already: what a person typed keeps its numbers and the order of its keys. */
  json?: string
  signal?: AbortSignal | undefined
  /** A 401 is the caller's own affair, and signs nobody out. */
  quiet?: boolean
  headers?: Record<string, string>
  /** Of something that is made: the server makes it once, however often the same attempt is sent. */
  attempt?: string
}

/** One question to the server. Throws a `Problem`, whatever goes wrong. */
export async function ask<T>(path: string, options: AskOptions = {}): Promise<T> {
  const answer = await askRaw(path, options)
  return (answer.status === 204 ? null : await answer.json()) as T
}

/** Also as the text that came: the order of its keys may mean something. */
export async function askWithText<T>(path: string, options: AskOptions = {}): Promise<T & { text: string }> {
  const text = await (await askRaw(path, options)).text()
  return { ...(JSON.parse(text) as T), text }
}

export async function askRaw(path: string, options: AskOptions = {}): Promise<Response> {
  const {
    method = 'GET',
    body,
    json = body === undefined ? undefined : JSON.stringify(body),
    signal,
  } = options
  const answer = await fetch(path, {
    method,
    headers: {
      ...ownHeaders(),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      'accept-language': document.documentElement.lang,
      ...(options.attempt !== undefined && { 'idempotency-key': options.attempt }),
      ...options.headers,
    },
    ...(json !== undefined && { body: json }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Problem('OFFLINE', 0, 'offline', { madeOnce: options.attempt !== undefined })
  })
  if (answer.ok) {
    ledgerAway.set(false)
    return answer
  }
  const problem = await problemOf(answer)
  if (problem.code === 'LEDGER_UNAVAILABLE') ledgerAway.set(true)
  if (problem.status === 401 && !options.quiet) endSession('expired')
  throw problem
}
