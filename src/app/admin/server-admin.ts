import { AppError, ERRORS, messageOf } from '../../kernel/index.ts'
import type { ProjectAdmin } from './project-admin.ts'

const ANSWER_MS = 60_000

/** Asks a running server, with its admin token. */
export function serverAdmin(server: string, token: string): ProjectAdmin {
  const ask = askServer(server, token)
  const project = (id: string) => `/api/projects/${encodeURIComponent(id)}`
  return {
    createProject: (name) => ask('POST', '/api/projects', { name }),
    projects: async () => (await ask<{ items: [] }>('GET', '/api/projects')).items,
    rotate: (id, wish) => ask('POST', `${project(id)}/rotate`, wish),
    deleteProject: (id) => ask('DELETE', project(id)),
    createKey: (id, wish) => ask('POST', `${project(id)}/keys`, wish),
    keys: async (id) => (await ask<{ items: [] }>('GET', `${project(id)}/keys`)).items,
    revokeKey: (id, keyId) => ask('DELETE', `${project(id)}/keys/${encodeURIComponent(keyId)}`),
    close: async () => undefined,
  }
}

/** With a key or the admin token; a body that is a text is JSON already. */
export function askServer(server: string, token: string, what = 'admin token; check WHARF_ADMIN_TOKEN') {
  const base = server.replace(/\/+$/, '')
  return async <T>(method: string, path: string, body?: object | string): Promise<T> => {
    const answer = await reach(`${base}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await answer.text()
    if (!answer.ok) throw refusal({ base, what }, answer.status, text)
    return (answer.status === 204 ? undefined : read(base, text)) as T
  }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    const reason = messageOf((cause as Error).cause ?? cause)
    throw new AppError(
      ERRORS.SERVER_UNREACHABLE,
      `no Wharf answers at ${new URL(url).origin} (${reason}); is it running, and is --server right?`,
      { cause },
    )
  }
}

/** The problem document's own code and sentence, where there is one. */
function refusal({ base, what }: { base: string; what: string }, status: number, text: string): AppError {
  const problem = parsed(text) as { code?: string; detail?: string } | undefined
  const kind = Object.values(ERRORS).find(({ code }) => code === problem?.code)
  if (kind === ERRORS.UNAUTHENTICATED) return new AppError(kind, `${base} does not know this ${what}`)
  if (kind !== undefined) return new AppError(kind, problem?.detail ?? kind.title)
  return new AppError(ERRORS.SERVER_UNREACHABLE, `${base} answers ${status}, which is not an answer of Wharf`)
}

function read(base: string, text: string): unknown {
  const answer = parsed(text)
  if (answer !== undefined) return answer
  throw new AppError(ERRORS.SERVER_UNREACHABLE, `${base} does not answer with JSON; is it a Wharf?`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
