import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmod, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, ERRORS, isErrno, makeFolder } from '../../../kernel/index.ts'
import type { AgentName, Trust } from '../wire/index.ts'

/** Who this agent is, and whom it believes: made once, at its enrolment. */
export interface OwnIdentity extends Trust {
  /** PKCS #8, PEM. */
  key: string
}

interface Kept extends AgentName {
  key: string
  /** Hash of the secret that the key was, or is being, enrolled with. */
  token: string
  /** Null until the server has answered. */
  trust: Trust | null
  /** While an agent that has an identity is enrolled again: that one stays until the server has answered. */
  next?: { key: string; token: string }
}

const FILE = 'agent.json'

/** The folder of `--state`: one file, which nobody but the agent's user may read. */
export class AgentState {
  readonly #folder: string
  readonly #name: AgentName

  constructor(folder: string, name: AgentName) {
    this.#folder = folder
    this.#name = name
  }

  /** Undefined as long as this agent was not enrolled. */
  async identity(): Promise<OwnIdentity | undefined> {
    const kept = await this.#read()
    return kept?.trust ? { key: kept.key, ...kept.trust } : undefined
  }

  /** Whether it was one of these that enrolled this agent: earlier versions kept the hash of the whole token. */
  async wasEnrolledWith(...tokens: string[]): Promise<boolean> {
    const kept = await this.#read()
    return kept?.trust != null && tokens.includes(kept.token)
  }

  /** The key to enrol with this token: the same again when the answer to an earlier try was not heard, or not believed. */
  async keyFor(token: string): Promise<string> {
    const kept = await this.#read()
    if (kept?.token === token) return kept.key
    if (kept?.next?.token === token) return kept.next.key
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    // A token that is no good must not cost the identity that the agent has.
    if (kept?.trust) await this.#write({ ...kept, next: { key, token } })
    else await this.#write({ ...this.#name, key, token, trust: null })
    return key
  }

  async enrolled(token: string, key: string, trust: Trust): Promise<OwnIdentity> {
    await this.#write({ ...this.#name, key, token, trust })
    return { key, ...trust }
  }

  async #read(): Promise<Kept | undefined> {
    const path = join(this.#folder, FILE)
    const text = await readFile(path, 'utf8').catch((error) => {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    })
    if (text === undefined) return undefined
    const kept = parsed(text, path)
    const { agentId, containerId } = this.#name
    if (kept.agentId === agentId && kept.containerId === containerId) return kept
    const whose = kept.containerId === '' ? kept.agentId : `${kept.agentId}, container ${kept.containerId}`
    throw invalid(
      `--state ${this.#folder} belongs to the agent ${whose}; give each agent a folder of its own`,
    )
  }

  /** Whole or not at all, and on disk when it resolves. */
  async #write(kept: Kept): Promise<void> {
    await makeFolder(this.#folder)
    await chmod(this.#folder, 0o700)
    const path = join(this.#folder, FILE)
    const file = await open(`${path}.new`, 'w', 0o600)
    try {
      await file.chmod(0o600)
      await file.writeFile(`${JSON.stringify(kept)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  }
}

function parsed(text: string, path: string): Kept {
  try {
    const kept = JSON.parse(text) as Kept
    createPrivateKey(kept.key)
    return kept
  } catch (cause) {
    throw new AppError(ERRORS.CONFIG_INVALID, `${path} is damaged; remove it and enrol the agent again`, {
      cause,
    })
  }
}

function invalid(message: string): AppError {
  return new AppError(ERRORS.CONFIG_INVALID, message)
}
