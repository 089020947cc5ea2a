import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { WebSocket } from 'ws'
import {
  AppError,
  askReadiness,
  type Clock,
  ERRORS,
  isAppError,
  type Log,
  messageOf,
  withRetry,
} from '../../../kernel/index.ts'
import {
  AGENT_SOCKET_PATH,
  type AgentName,
  type FromAgent,
  fingerprint,
  readEnrollmentToken,
  signAs,
  type ToAgent,
  type Trust,
} from '../wire/index.ts'
import { AgentState, type OwnIdentity } from './agent-state.ts'

export interface EnrollOptions extends AgentName {
  server: string
  /** The folder that keeps the agent's key. */
  state: string
  /** Undefined: it was enrolled before. */
  token?: string | undefined
}

export const HOW_TO_ENROLL =
  'make a token with POST /api/agents/enrollments {"agent_id", "container_id"} and the admin token, then start once with --enroll TOKEN --state DIR'

const AGAIN = { base: 500, factor: 2, max: 5_000, jitter: 0.5 }
const UNAUTHORIZED = 401
const ANSWER_WITHIN_MS = 15_000

/** The agent's identity: the one that it has, or a new one for the token. A server that is away is asked again. */
export async function openIdentity(
  { clock, log }: { clock: Clock; log: Log },
  { server, state: folder, token, ...name }: EnrollOptions,
  signal: AbortSignal,
): Promise<OwnIdentity> {
  const state = new AgentState(folder, name)
  const wanted = token === undefined ? undefined : readEnrollmentToken(token)
  // By its secret: the server may have taken that with a mistyped rest, and then takes it again from the same key alone.
  const hash = hashOf(wanted?.secret ?? '')
  if (token === undefined || (wanted && (await state.wasEnrolledWith(hash, hashOf(token))))) {
    const identity = await state.identity()
    if (identity) return identity
    throw new AppError(ERRORS.CONFIG_INVALID, `this agent is not enrolled: ${HOW_TO_ENROLL}`)
  }
  if (!wanted) throw new AppError(ERRORS.CONFIG_INVALID, `--enroll takes a token: ${HOW_TO_ENROLL}`)
  const key = await state.keyFor(hash)
  const once = async () => {
    // A token is good once: no other program gets to see it.
    await askReadiness(server, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]))
    const trust = await enrollOnce({ server, token, key, name }, signal)
    if (fingerprint(trust) !== wanted.fingerprint)
      throw refused('the answer is not by the server that made the token, or the token is mistyped')
    return await state.enrolled(hash, key, trust)
  }
  return withRetry(once, {
    ...{
      clock,
      signal,
      backoff: AGAIN,
      isRetryable: (error) => !isAppError(error) || isAppError(error, ERRORS.SERVER_UNREACHABLE),
    },
    onRetry({ attempt, error }) {
      if (attempt === 1) log.warn(`${messageOf(error)}; will keep trying`)
    },
  })
}

/** Rejects with an `AppError` when asking again is of no use. */
function enrollOnce(
  { server, token, key, name }: { server: string; token: string; key: string; name: AgentName },
  signal: AbortSignal,
): Promise<Trust> {
  const url = new URL(AGENT_SOCKET_PATH, server)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const privateKey = createPrivateKey(key)
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: 10_000,
    perMessageDeflate: false,
  })
  return new Promise<Trust>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${server} does not answer`)), ANSWER_WITHIN_MS)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    socket.on('unexpected-response', (_request, { statusCode }) =>
      reject(
        statusCode === UNAUTHORIZED
          ? refused('the token is not good, or no longer')
          : new Error(`${server} answered ${statusCode}`),
      ),
    )
    socket.on('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot reach ${server} (${error.code ?? error.message})`)),
    )
    socket.on('close', () => {
      clearTimeout(late)
      reject(new Error(`${server} closed the connection`))
    })
    socket.on('message', (data) => {
      try {
        const message = JSON.parse(String(data)) as ToAgent
        if (message.type === 'challenge') {
          const { agentId, containerId } = name
          const enroll: FromAgent = {
            type: 'enroll',
            agent_id: agentId,
            container_id: containerId,
            public_key: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
            signature: signAs(privateKey, 'enroll', [message.nonce, agentId, containerId]),
          }
          socket.send(JSON.stringify(enroll))
        } else if (message.type === 'refused') reject(refused(message.message))
        else if (message.type === 'enrolled')
          resolve({ authority: message.authority, verifyKey: message.verify_key })
      } catch (error) {
        reject(error)
      }
    })
  }).finally(() => socket.terminate())
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function refused(why: string): AppError {
  return new AppError(ERRORS.CONFIG_INVALID, `this agent was not enrolled, ${why}: ${HOW_TO_ENROLL}`)
}
