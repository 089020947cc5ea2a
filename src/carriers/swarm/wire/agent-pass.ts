import type { KeyObject } from 'node:crypto'
import { isSignedBy, newNonce, signAs } from './agent-key.ts'

export interface AgentName {
  agentId: string
  containerId: string
}

const MOST_CHARACTERS = 4_096

/**
 * What an agent shows when it opens its line: its name, signed with its key. It keeps strangers out before anything is
 * opened for them; that it is the agent itself, here and now, is proved by its answer to the server's challenge.
 */
export function makePass(key: KeyObject, { agentId, containerId }: AgentName): string {
  const parts = [agentId, containerId, newNonce()]
  const payload = Buffer.from(JSON.stringify(parts)).toString('base64url')
  return `${payload}.${signAs(key, 'pass', parts)}`
}

/** Undefined when it is no pass at all. */
export function readPass(text: string): (AgentName & { isOf(key: KeyObject): boolean }) | undefined {
  const [payload, signature, more] = text.split('.')
  if (!payload || !signature || more !== undefined || text.length > MOST_CHARACTERS) return undefined
  const parts = parsed(payload)
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  if (!parts.every((part) => typeof part === 'string')) return undefined
  const [agentId = '', containerId = ''] = parts as string[]
  return { agentId, containerId, isOf: (key) => isSignedBy(key, 'pass', parts as string[], signature) }
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString())
  } catch {
    return undefined
  }
}
