import { type Backend, keyView, ProjectStore, projectView, type Sealer } from '../engine/index.ts'
import type { ProjectAdmin } from './project-admin.ts'

const HOUR = 3_600_000

/** Works on the ledger itself, as the routes of `/api/projects` do. */
export function ledgerAdmin(backend: Backend, sealer: Sealer): ProjectAdmin {
  const { ledger, signal } = backend
  const projects = new ProjectStore({ ledger, sealer, signal })
  return {
    async createProject(name) {
      const project = await ledger.transaction((tx) => projects.create(tx, name))
      return {
        ...projectView(project),
        api_key: project.apiKey,
        webhook_secret: project.webhookSecret,
      }
    },
    projects: async () => (await projects.list()).map(projectView),
    async rotate(id, { what, grace_hours }) {
      const rotated = await ledger.transaction((tx) =>
        projects.rotate(tx, id, { what, graceMs: grace_hours * HOUR }),
      )
      const { secret, keyId, oldUntil } = rotated
      return {
        project_id: id,
        [what]: secret,
        ...(keyId !== null && { key_id: keyId }),
        old_expires_at: oldUntil === null ? null : new Date(oldUntil).toISOString(),
      }
    },
    deleteProject: (id) => ledger.transaction((tx) => projects.delete(tx, id)),
    createKey: (id, { name, scopes, expires_at }) =>
      ledger.transaction(async (tx) => {
        await projects.require(tx, id)
        const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
        const key = await projects.keys.create(tx, id, { name, scopes, expiresAt })
        return { ...keyView(key), api_key: key.secret }
      }),
    async keys(id) {
      await projects.require(ledger, id)
      return (await projects.keys.list(id)).map(keyView)
    },
    revokeKey: (id, keyId) => ledger.transaction((tx) => projects.endKey(tx, id, keyId)),
    close: () => backend.close(),
  }
}
