import { Store } from '../live/store.ts'

export interface Session {
  token: string
  role: 'admin' | 'project'
  projectId: string | null
  projectName: string | null
}

const KEPT_AS = 'wharf.session'

/** Who is signed in. Kept for this tab's session and nowhere else. */
export const session = new Store<Session | null>(read())
/** Why the sign-in page is shown again. */
export const signedOutBecause = new Store<'expired' | null>(null)

function read(): Session | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? 'null') as Session | null
  } catch {
    return null
  }
}

export function signIn(next: Session): void {
  sessionStorage.setItem(KEPT_AS, JSON.stringify(next))
  signedOutBecause.set(null)
  session.set(next)
}

export function signOut(because: 'expired' | null = null): void {
  sessionStorage.clear()
  signedOutBecause.set(because)
  session.set(null)
}
