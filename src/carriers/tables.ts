import type { Generated } from 'kysely'

declare module '../ledger/schema.ts' {
  interface Schema {
    swarm_tasks: SwarmTasksTable
    swarm_targets: SwarmTargetsTable
    swarm_agents: SwarmAgentsTable
    swarm_identities: SwarmIdentitiesTable
    swarm_enrollments: SwarmEnrollmentsTable
  }
}

interface SwarmTasksTable {
  id: string
  local_path: string
  file_name: string
  manifest: string
  project_id: Generated<string>
  created_at: number
  deadline: number
  egress: Generated<number>
  /** The instance that says who takes from whom; null: begun before this was kept. */
  coordinator: Generated<string | null>
}

interface SwarmTargetsTable {
  task_id: string
  agent_id: string
  container_id: string
  /** JSON: one user and directory each. */
  places: string
  error_code: number
  error_message: string
}

interface SwarmAgentsTable {
  agent_id: string
  container_id: string
  instance: string
  host: string
  port: number
  version: string
  connected_at: number
  seen_at: number
}

interface SwarmIdentitiesTable {
  key_id: string
  agent_id: string
  container_id: string
  /** SPKI, PEM. */
  public_key: string
  enrolled_at: number
  revoked_at: number | null
  /** Null until its first line. */
  last_seen_at: Generated<number | null>
  last_version: Generated<string | null>
}

interface SwarmEnrollmentsTable {
  token_hash: string
  agent_id: string
  container_id: string
  expires_at: number
  /** The key that it was used for. */
  used_by: string | null
}
