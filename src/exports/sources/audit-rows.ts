import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { AuditLog } from '../../tenancy/index.ts'
import type { SqlRows, SqlSource } from './sql/sql-source.ts'

/** The audit log of the installation as a source: "who did what" as a file. */
type AuditSource = Static<typeof AuditSource>
export const AuditSource = Type.Object(
  {
    kind: Type.Literal('audit'),
    after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    actor: Type.Optional(Type.String({ maxLength: 500 })),
    action: Type.Optional(Type.String({ maxLength: 200 })),
  },
  {
    title: 'AuditSource',
    additionalProperties: false,
    description: 'The audit log, for an admin; the file is the project’s',
  },
)

/** Its name among the connections. No request can name a connection like this. */
export const AUDIT_CONNECTION = 'wharf:audit'

const PAGE_ROWS = 1_000
const COLUMNS = [
  { name: 'seq', type: 'integer' },
  { name: 'at', type: 'datetime' },
  { name: 'actor', type: 'string' },
  { name: 'action', type: 'string' },
  { name: 'project_id', type: 'string' },
  { name: 'target', type: 'string' },
  { name: 'address', type: 'string' },
  { name: 'detail', type: 'string' },
]

export function auditQuery({ after = 0, actor, action }: AuditSource): SqlSource {
  return { connection: AUDIT_CONNECTION, query: '', params: [after, actor ?? null, action ?? null] }
}

/** It covers all projects, so only a caller who may see all of them may read it. */
export function requireAdminForAudit(sql: SqlSource | undefined, isAdmin: boolean): void {
  if (sql?.connection !== AUDIT_CONNECTION || isAdmin) return
  throw new AppError(
    ERRORS.FORBIDDEN,
    'the audit log needs the admin token, or a key or person with that role',
  )
}

/** In order, up to what is there when the last page is read: the log is append-only, so nothing can be missed or come twice. */
export function openAuditRows(audit: AuditLog, { params = [] }: SqlSource): SqlRows {
  const [first, actor, action] = params
  const filter = {
    actor: (actor as string | null) ?? undefined,
    action: (action as string | null) ?? undefined,
  }
  return {
    columns: COLUMNS,
    async *pages() {
      let after = Number(first)
      for (;;) {
        const entries = await audit.read({ ...filter, after, limit: PAGE_ROWS })
        if (entries.length === 0) return
        const data = entries.map(({ detail, ...entry }) => ({
          ...entry,
          detail: detail === null ? null : JSON.stringify(detail),
        }))
        yield { text: JSON.stringify({ data }), rows: data.length }
        if (entries.length < PAGE_ROWS) return
        after = entries.at(-1)?.seq ?? after
      }
    },
    close: async () => undefined,
  }
}
