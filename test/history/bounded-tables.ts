export const NO_TABLE = ''

/** Tables that do not grow with finished work. Every other table does, also one that is new. */
export const BOUNDED_TABLES: ReadonlySet<string> = new Set([
  NO_TABLE,
  // One row per project, key, lane, owner in a lane, setting, migration, instance or leader.
  'projects',
  'project_keys',
  // At most a hundred sessions per key or person, and those that are over are swept.
  'sessions',
  'lanes',
  'lane_turns',
  'lane_queue',
  'lane_shares',
  // One row per project, or per project and quota.
  'project_usage',
  'project_quotas',
  'settings',
  'schema_versions',
  'instances',
  'leaders',
  // One row per account, business, project with permissions, agent, or agent that is connected or about to be enrolled.
  'accounts',
  'connections',
  'templates',
  'saved_exports',
  'transfer_businesses',
  'transfer_agents',
  'swarm_agents',
  'swarm_identities',
  'swarm_enrollments',
  // One row per upload under way, and per file that is being written.
  'processing_uploads',
  'disk_reservations',
  // A row per kind of work and quarter of an hour, for a month.
  'ended_spans',
  // Emptied after a minute, and empty while Redis answers.
  'bus_mail',
])
