import { execFile } from 'node:child_process'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { RESULT, TargetFailure } from '../../wire/index.ts'

export interface Allowed {
  /** Ids of projects; `*` is every project. */
  projects: readonly string[]
  /** Names of users that files may belong to. */
  users: readonly string[]
}

const run = promisify(execFile)

/** Whose files the owner of this host takes, and for whom. What is not on the list is refused. */
export class AllowList {
  readonly #allowed: Allowed

  constructor(allowed: Allowed) {
    this.#allowed = allowed
  }

  checkProject(project: string): void {
    const { projects } = this.#allowed
    if (projects.includes('*') || projects.includes(project)) return
    throw new TargetFailure(
      RESULT.PROJECT_REFUSED,
      `this agent takes no files of project ${project}; its owner allows them with --allow-project`,
    )
  }

  /** No name is the user that the agent runs as. Another name of root is root. */
  async checkUser(user: string): Promise<void> {
    const name = user === '' ? ownName() : user
    const { users } = this.#allowed
    if (!users.includes(name)) throw refused(name)
    if (name !== 'root' && !users.includes('root') && (await isRoot(name))) throw refused('root')
  }
}

function refused(name: string): TargetFailure {
  return new TargetFailure(
    RESULT.USER_REFUSED,
    `this agent writes no files as ${name}; its owner allows it with --allow-user`,
  )
}

function ownName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user that has no name.
    return String(process.getuid?.() ?? '')
  }
}

/** Only an agent of root's can write as root. */
async function isRoot(name: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const { stdout } = await run('id', ['-u', '--', name]).catch(() => ({ stdout: '' }))
  return stdout.trim() === '0'
}
