import { AppError, ERRORS, messageOf } from './errors.ts'

export interface Readiness {
  isReady: boolean
  /** As the server says it. */
  text: string
}

const ANSWER_MS = 10_000
const MOST_CHARACTERS = 2_000
const STATUSES = ['ready', 'not ready', 'shutting down']

/**
 * What `/readyz` says, which needs no token: a secret goes only to what has answered like a Wharf, so that a mistyped
 * address gets none. Throws `SERVER_UNREACHABLE` for everything else.
 */
export async function askReadiness(
  server: string,
  signal = AbortSignal.timeout(ANSWER_MS),
): Promise<Readiness> {
  const answer = await askOutside(server, '/readyz', { signal })
  const text = await textOfAnswer(server, answer, MOST_CHARACTERS)
  const said = parseJson(text) as { status?: unknown; ledger?: unknown } | null | undefined
  if (STATUSES.includes(String(said?.status)) && typeof said?.ledger === 'string')
    return { isReady: answer.ok, text }
  const got = answer.ok ? 'something else' : String(answer.status)
  throw unreachable(`${server} is not a Wharf: it answers ${got} at /readyz; check the address`)
}

/** Follows no redirect: what was meant for one server goes to no other. */
export async function askOutside(server: string, path: string, init: RequestInit): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(`${server}${path}`, { ...init, redirect: 'manual' })
  } catch (cause) {
    const reason = messageOf((cause as Error).cause ?? cause) || 'the connection failed'
    throw unreachable(
      `no Wharf answers at ${server} (${reason}); is it running, and is the address right?`,
      cause,
    )
  }
  if (answer.status < 300 || answer.status > 399) return answer
  const to = URL.parse(answer.headers.get('location') ?? '', `${server}${path}`)?.origin
  throw unreachable(
    `${server} redirects${to === undefined ? '' : ` to ${to}`}; give the address of the Wharf itself`,
  )
}

export async function textOfAnswer(server: string, answer: Response, most: number): Promise<string> {
  let text = ''
  try {
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.length > most) break
    }
  } catch (cause) {
    const reason = messageOf((cause as Error).cause ?? cause)
    throw unreachable(`${server} did not finish its answer (${reason})`, cause)
  }
  if (text.length <= most) return text
  throw unreachable(`${server} answers with more than ${most} characters; is it a Wharf?`)
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreachable(message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.SERVER_UNREACHABLE, message, { cause })
}
