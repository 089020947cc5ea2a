import type { SignInMethods, Session as Who } from '../../../src/http/wire.ts'
import { Store } from '../store.ts'
import { ask } from './client.ts'
import { Problem } from './problem.ts'
import { endSession, forgetOwnProject, signIn, signOut } from './session.ts'

/** Who is signed in; what is read after this answer is at least as new as its `seq`. */
export function askWho(signal?: AbortSignal): Promise<Who> {
  return ask<Who>('/api/session', { signal, quiet: true })
}

/** The key is sent this once; from then on a cookie speaks for it. */
export async function signInWithKey(key: string): Promise<void> {
  signIn(await ask<Who>('/api/session', { method: 'POST', body: { key }, quiet: true }))
}

/** Throws if the server cannot be reached: the session goes on then, and nobody may think otherwise. */
export async function leave(): Promise<void> {
  try {
    await ask('/api/session', { method: 'DELETE', quiet: true })
  } catch (problem) {
    if (!(problem instanceof Problem && problem.status === 401)) throw problem
  }
  signOut()
}

export async function askMethods(signal: AbortSignal): Promise<SignInMethods['methods']> {
  return (await ask<SignInMethods>('/api/sign-in', { signal, quiet: true })).methods
}

/** Why it is not known yet who is signed in. */
export const whyUnknown = new Store<Problem | null>(null)

const AGAIN_MS = 2_000

/** Finds out who is signed in, however long the server takes to answer. */
export async function findSession(): Promise<void> {
  for (;;) {
    try {
      return signIn(await askWho())
    } catch (problem) {
      const status = problem instanceof Problem ? problem.status : 0
      if (status === 401) return endSession()
      // The project that this tab was about is no longer theirs.
      if (status === 404) forgetOwnProject()
      else {
        whyUnknown.set(problem instanceof Problem ? problem : null)
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
  }
}
