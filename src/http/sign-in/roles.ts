import { AppError, counted, ERRORS } from '../../kernel/index.ts'
import type { Person, Project, Roles } from '../../tenancy/index.ts'
import { type Claims, claimAt } from './identity-provider.ts'

const ROLE = /^(?:wharf:)?(?:(admin|viewer)|(operator|viewer):(.+))$/
const LONGEST_NAME = 200

/**
 * The person that the claims describe, and what is wrong with roles that gave nothing because several projects have their name.
 * Throws for one who has no role here.
 */
export function personFrom(
  claims: Claims,
  { roleClaim, projects }: { roleClaim: string; projects: readonly Project[] },
): { person: Person; ambiguous: string[] } {
  const values = valuesOf(claimAt(claims, roleClaim))
  const roles = readRoles(values, projects)
  const ambiguous = values.flatMap((value) => ambiguityOf(value, projects) ?? [])
  const name = nameFrom(claims)
  if (roles.admin || roles.viewer || Object.keys(roles.projects).length > 0)
    return { person: { subject: claims.sub, name, roles }, ambiguous }
  const said = values.length === 0 ? 'has no value' : `has the values ${values.slice(0, 20).join(', ')}`
  const why = ambiguous.length === 0 ? '' : ` Of these, ${ambiguous.slice(0, 20).join('; ')}.`
  throw new AppError(
    ERRORS.SIGN_IN_REFUSED,
    `you are signed in as ${name}, but you have no role in Wharf: the claim ${roleClaim} of your account ${said}.${why} It takes admin, viewer, operator:PROJECT or viewer:PROJECT, with the id or name of a project of this Wharf. Ask who manages your accounts.`,
    { details: { subject: claims.sub, name } },
  )
}

/** Whose role it is cannot be guessed: the ids to choose from. */
function ambiguityOf(value: string, projects: readonly Project[]): string | undefined {
  const [, , , name] = ROLE.exec(value.trim()) ?? []
  if (name === undefined || projects.some(({ id }) => id === name)) return undefined
  const ids = projects.filter((project) => project.name === name).map(({ id }) => id)
  if (ids.length < 2) return undefined
  return `${value.trim()} gives nothing, because ${counted(ids.length, 'project')} are named ${name}; name one by its id: ${ids.slice(0, 20).join(', ')}`
}

/** A role for a project that is not there, or whose name several have, gives nothing. */
function readRoles(values: readonly string[], projects: readonly Project[]): Roles {
  const roles = { admin: false, viewer: false, projects: {} as Record<string, 'operator' | 'viewer'> }
  for (const value of values) {
    const [, whole, part, name = ''] = ROLE.exec(value.trim()) ?? []
    if (whole === 'admin') roles.admin = true
    if (whole === 'viewer') roles.viewer = true
    const project = part === undefined ? undefined : findProject(projects, name)
    if (project && roles.projects[project.id] !== 'operator')
      roles.projects[project.id] = part as 'operator' | 'viewer'
  }
  return roles
}

function findProject(projects: readonly Project[], idOrName: string): Project | undefined {
  const byId = projects.find(({ id }) => id === idOrName)
  if (byId) return byId
  const named = projects.filter(({ name }) => name === idOrName)
  return named.length === 1 ? named[0] : undefined
}

/** A list, a single text, or an object whose keys are the roles. */
function valuesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim]
  if (typeof claim !== 'object' || claim === null) return []
  const values: unknown[] = Array.isArray(claim) ? claim : Object.keys(claim)
  return values.filter((value) => typeof value === 'string')
}

/** What people call them. Nothing that could break a line of a list or a log. */
function nameFrom(claims: Claims): string {
  const given = [claims.name, claims.preferred_username, claims.email, claims.sub]
  const plain = given
    .filter((value) => typeof value === 'string')
    .map((value) => value.replace(/[\p{C}\s]+/gu, ' ').trim())
  return (plain.find((value) => value !== '') ?? 'unknown').slice(0, LONGEST_NAME).toWellFormed()
}
