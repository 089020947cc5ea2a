import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { RESULT, TargetFailure } from '../../wire/index.ts'

export interface Owner {
  uid: number
  gid: number
}

const run = promisify(execFile)

/**
 * Whom a file shall belong to; undefined: nothing to change. Asked of the system's own `id`, which knows every source
 * of users that the host has. An agent without the rights of root can only give files to the user it runs as.
 */
export async function findOwner(user: string): Promise<Owner | undefined> {
  if (user === '') return undefined
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.@-]*\$?$/.test(user)) throw unknown(user)
  const ask = async (what: string) => {
    try {
      return Number((await run('id', [what, '--', user])).stdout.trim())
    } catch (error) {
      throw unknown(user, error)
    }
  }
  const [uid, gid] = await Promise.all([ask('-u'), ask('-g')])
  if (uid === process.getuid?.()) return undefined
  if (process.getuid?.() !== 0)
    throw new TargetFailure(RESULT.PERMISSION, `this agent may not give files to the user ${user}`)
  return { uid, gid }
}

function unknown(user: string, cause?: unknown): TargetFailure {
  return new TargetFailure(RESULT.USER_UNKNOWN, `there is no user ${JSON.stringify(user)} here`, cause)
}
