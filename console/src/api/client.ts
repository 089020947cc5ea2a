import { Problem, problemOf } from './problem.ts'
import { session, signOut } from './session.ts'

export interface AskOptions {
  method?: string
  body?: unknown
  /** A body that is text already: what a person typed keeps its numbers and the order of its keys. */
  json?: string
  signal?: AbortSignal | undefined
  token?: string
  headers?: Record<string, string>
}

/** One question to the server. Throws a `Problem`, whatever goes wrong. */
export async function ask<T>(path: string, options: AskOptions = {}): Promise<T> {
  const answer = await askRaw(path, options)
  return (answer.status === 204 ? null : await answer.json()) as T
}

export async function askRaw(path: string, options: AskOptions = {}): Promise<Response> {
  const {
    method = 'GET',
    body,
    json = body === undefined ? undefined : JSON.stringify(body),
    signal,
  } = options
  const token = options.token ?? session.get()?.token
  const answer = await fetch(path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      'accept-language': document.documentElement.lang,
      ...options.headers,
    },
    ...(json !== undefined && { body: json }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Problem('OFFLINE', 0, 'offline')
  })
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (problem.status === 401 && options.token === undefined) signOut('expired')
  throw problem
}
