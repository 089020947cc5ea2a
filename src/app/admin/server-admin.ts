import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { AppError, askOutside, askReadiness, ERRORS, parseJson, textOfAnswer } from '../../kernel/index.ts'
import { KeyView, NewKeyView, NewProjectView, ProjectView, Rotated } from '../../tenancy/index.ts'
import type { ProjectAdmin } from './project-admin.ts'

const ANSWER_MS = 60_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/** What `PUT /api/templates/{name}` and `/api/saved-exports/{name}` answer, as far as a command needs it. */
export const Applied = Type.Object({ outcome: Type.String() })

/** Asks a running server, with its admin token. */
export function serverAdmin(server: string, token: string): ProjectAdmin {
  const ask = askServer(server, token)
  const project = (id: string) => `/api/projects/${encodeURIComponent(id)}`
  const listOf = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })
  return {
    createProject: (name) => ask('POST', '/api/projects', NewProjectView, { name }),
    projects: async () => (await ask('GET', '/api/projects', listOf(ProjectView))).items,
    rotate: (id, wish) => ask('POST', `${project(id)}/rotate`, Rotated, wish),
    deleteProject: async (id) => {
      await ask('DELETE', project(id), Type.Null())
    },
    createKey: (id, wish) => ask('POST', `${project(id)}/keys`, NewKeyView, wish),
    keys: async (id) => (await ask('GET', `${project(id)}/keys`, listOf(KeyView))).items,
    revokeKey: async (id, keyId) => {
      await ask('DELETE', `${project(id)}/keys/${encodeURIComponent(keyId)}`, Type.Null())
    },
    close: async () => undefined,
  }
}

/**
 * With a key or the admin token, which only a Wharf gets to see; a body that is a text is JSON already. The answer is what
 * the schema says: null where there is none.
 */
export function askServer(server: string, token: string, what = 'admin token; check WHARF_ADMIN_TOKEN') {
  let isWharf: Promise<unknown> | undefined
  return async <T extends TSchema>(
    method: string,
    path: string,
    schema: T,
    body?: object | string,
  ): Promise<Static<T>> => {
    isWharf ??= askReadiness(server)
    await isWharf
    const answer = await askOutside(server, path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await textOfAnswer(server, answer, MOST_CHARACTERS)
    if (!answer.ok) throw refusal({ server, what }, answer.status, text)
    const value = answer.status === 204 ? null : parseJson(text)
    if (Compile(schema).Check(value)) return value
    throw strange(
      `${server} answers ${method} ${path} in a form that this wharf does not know; is it another version?`,
    )
  }
}

/** The problem document's own code and sentence, where there is one. */
function refusal({ server, what }: { server: string; what: string }, status: number, text: string): AppError {
  const problem = parseJson(text) as { code?: unknown; detail?: unknown } | null | undefined
  const kind = Object.values(ERRORS).find(({ code }) => code === problem?.code)
  if (kind === ERRORS.UNAUTHENTICATED) return new AppError(kind, `${server} does not know this ${what}`)
  if (kind !== undefined)
    return new AppError(kind, typeof problem?.detail === 'string' ? problem.detail : kind.title)
  return strange(`${server} answers ${status}, which is not an answer of Wharf`)
}

function strange(message: string): AppError {
  return new AppError(ERRORS.SERVER_UNREACHABLE, message)
}
