import { type Access, SESSION_COOKIE } from '../auth/index.ts'

export const SECURITY_SCHEMES = {
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin token, or a key with the scope admin',
  },
  projectKey: {
    type: 'http',
    scheme: 'bearer',
    description: "A project's key; its scopes decide which operations it may use",
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'The cookie of a browser that signed in; a change must come from a page of this server',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: "Good for one task's events and file, or for one project's events; also taken as ?token=",
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'WHARF_METRICS_TOKEN, where it is set' },
} as const

type Scheme = keyof typeof SECURITY_SCHEMES

const BY_ACCESS: Record<Access, { schemes: Scheme[]; text: string }> = {
  admin: { schemes: ['adminToken', 'session'], text: 'Needs the admin token.' },
  runs: {
    schemes: ['adminToken', 'projectKey', 'session'],
    text: 'Needs the admin token, or a key with a scope for runs.',
  },
  project: { schemes: ['projectKey', 'session'], text: "Needs a project's key; the admin token is refused." },
  any: {
    schemes: ['adminToken', 'projectKey', 'session'],
    text: "Needs a project's key or the admin token. A project sees only what is its own.",
  },
  ticket: {
    schemes: ['adminToken', 'projectKey', 'session', 'ticket'],
    text: "Needs a project's key, the admin token, or a ticket for this task or project.",
  },
  open: { schemes: [], text: 'Needs no key.' },
}

/** Who may call a route, for programs and for people. */
export function securityOf({ access = 'any', ownAccess = false }: { access?: Access; ownAccess?: boolean }) {
  if (ownAccess)
    return {
      security: [{ metricsToken: [] }, { adminToken: [] }, {}],
      text: 'Needs WHARF_METRICS_TOKEN or the admin token, where WHARF_METRICS_TOKEN is set or others than this machine are led to the server (beyond loopback, a public URL, a proxy).',
    }
  const { schemes, text } = BY_ACCESS[access]
  return { security: schemes.map((scheme) => ({ [scheme]: [] })), text }
}
