import type { Session as Who } from '../../../src/http/wire.ts'
import { Store } from '../store.ts'
import { forgetOwnExports } from './own-exports.ts'

/** Who is signed in. What proves it is a cookie that no script can read; nothing of it is kept here. */
export interface Session {
  id: string | null
  role: Who['role']
  projectId: string | null
  projectName: string | null
  /** The name of a person; null when a key signed in. */
  person: string | null
  /** What the key may do; null: everything, or everything that is only looking. */
  scopes: Who['scopes']
  looksOnly: boolean
  /** Those of a person who has several. */
  projects: Who['projects']
}

/** undefined until the server has said whether anybody is. */
export const session = new Store<Session | null | undefined>(undefined)
/** Why the sign-in page is shown again. */
export const signedOutBecause = new Store<'expired' | null>(null)

const HOLDER = 'wharf.holder'

export function signIn(who: Who): void {
  signedOutBecause.set(null)
  // What a tab has kept is for the one whose it was.
  const holder = `${who.role} ${who.person?.subject ?? who.key_id ?? ''}`
  const before = sessionStorage.getItem(HOLDER)
  if (before !== null && before !== holder) sessionStorage.clear()
  sessionStorage.setItem(HOLDER, holder)
  session.set({
    id: who.session_id,
    role: who.role,
    projectId: who.project_id,
    projectName: who.project_name,
    person: who.person?.name ?? null,
    scopes: who.scopes,
    looksOnly: who.looks_only,
    projects: who.projects,
  })
}

const PROJECT_DOMAINS = ['exports', 'transfers', 'processing'] as const
export type Domain = (typeof PROJECT_DOMAINS)[number] | 'runs' | 'admin'

/** As the server decides by role and scopes: what it would refuse is not offered. */
export function may(who: Session | null | undefined, deed: 'look' | 'change', domain: Domain): boolean {
  if (!who) return false
  const { scopes, looksOnly } = who
  if (scopes === null) return deed === 'look' || !looksOnly
  if (domain === 'admin') return false
  const wide = domain === 'runs' ? [] : ['all', ...(deed === 'look' ? ['read'] : [])]
  const enough: string[] = [...wide, domain, `${domain}:*`, `${domain}:${deed === 'look' ? 'read' : 'write'}`]
  return scopes.some((scope) => enough.includes(scope))
}

/** Whether the session changes nothing at all, wherever it looks. */
export function onlyLooks(who: Session | null | undefined): boolean {
  return !PROJECT_DOMAINS.some((domain) => may(who, 'change', domain))
}

/** Somebody signs out: nothing of theirs stays. */
export function signOut(): void {
  forgetTab()
  endSession()
}

/** The session is over, and nobody wished it: drafts stay for the same key or person. */
export function endSession(because: 'expired' | null = null): void {
  forgetOwnExports()
  signedOutBecause.set(because)
  session.set(null)
}

/** Drafts and choices of this tab. */
export function forgetTab(): void {
  sessionStorage.clear()
}

/** Whether a tab whose session is over was signed out of on purpose. */
export function isForgotten(): boolean {
  return sessionStorage.getItem(HOLDER) === null
}

const OWN_PROJECT = 'wharf.own-project'

/** For a person with several projects: the tab is about another one from now on. */
export function chooseOwnProject(id: string): void {
  sessionStorage.setItem(OWN_PROJECT, id)
  window.location.assign('/')
}

export function forgetOwnProject(): void {
  sessionStorage.removeItem(OWN_PROJECT)
}

/** What each request says besides the cookie. */
export function ownHeaders(): Record<string, string> {
  const project = sessionStorage.getItem(OWN_PROJECT)
  return project === null ? {} : { 'wharf-project': project }
}
