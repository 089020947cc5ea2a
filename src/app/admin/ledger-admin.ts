import type { Tx } from '../../ledger/index.ts'
import {
  AuditLog,
  type Deed,
  keyView,
  newProjectView,
  ProjectStore,
  projectView,
  rotatedView,
  type Sealer,
} from '../../tenancy/index.ts'
import type { Backend } from '../ground/open-backend.ts'
import type { ProjectAdmin } from './project-admin.ts'

const HOUR = 3_600_000

/** Works on the ledger itself, as the routes of `/api/projects` do. */
export function ledgerAdmin(backend: Backend, sealer: Sealer): ProjectAdmin {
  const { ledger, bus } = backend
  const projects = new ProjectStore({ ledger, sealer, bus })
  const audit = new AuditLog(ledger)
  const record = (
    tx: Tx,
    action: string,
    projectId: string,
    more: { keyId?: string; detail?: object } = {},
  ) => {
    const target = more.keyId === undefined ? projectId : `${projectId} ${more.keyId}`
    const deed: Deed = { actor: 'command', action, projectId, target, address: null }
    audit.record(tx, more.detail === undefined ? deed : { ...deed, detail: more.detail })
  }
  return {
    async createProject(name) {
      const project = await ledger.transaction(async (tx) => {
        const made = await projects.create(tx, name)
        record(tx, 'project.created', made.id, { detail: { name } })
        return made
      })
      return newProjectView(project)
    },
    projects: async () => (await projects.list()).map(projectView),
    async rotate(id, { what, grace_hours }) {
      const rotated = await ledger.transaction(async (tx) => {
        record(tx, 'project.rotated', id, { detail: { what, grace_hours } })
        return projects.rotate(tx, id, { what, graceMs: grace_hours * HOUR })
      })
      return rotatedView(id, what, rotated)
    },
    deleteProject: (id) =>
      ledger.transaction(async (tx) => {
        record(tx, 'project.deleted', id)
        await projects.delete(tx, id)
      }),
    createKey: (id, { name, scopes, expires_at }) =>
      ledger.transaction(async (tx) => {
        await projects.require(tx, id)
        const expiresAt = expires_at === undefined ? null : Date.parse(expires_at)
        const key = await projects.keys.create(tx, id, { name, scopes, expiresAt })
        record(tx, 'key.created', id, { keyId: key.id, detail: { name, scopes, expires_at } })
        return { ...keyView(key), api_key: key.secret }
      }),
    async keys(id) {
      await projects.require(ledger, id)
      return (await projects.keys.list(id)).map(keyView)
    },
    revokeKey: (id, keyId) =>
      ledger.transaction(async (tx) => {
        record(tx, 'key.revoked', id, { keyId })
        await projects.endKey(tx, id, keyId)
      }),
    close: () => backend.close(),
  }
}
