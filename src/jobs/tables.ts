import type { Generated } from 'kysely'
import type { WaitsOn } from '../kernel/index.ts'

declare module '../ledger/schema.ts' {
  interface Schema {
    jobs: JobsTable
    tasks: TasksTable
    events: EventsTable
    lanes: LanesTable
    lane_turns: LaneTurnsTable
    lane_queue: LaneQueueTable
    lane_shares: LaneSharesTable
    instances: InstancesTable
    leaders: LeadersTable
    ended_work: EndedWorkTable
    ended_spans: EndedSpansTable
    bus_mail: BusMailTable
  }
}

interface BusMailTable {
  id: string
  sent_at: number
  messages: string
}

export type JobState = 'waiting' | 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface JobsTable {
  id: string
  kind: string
  lane: string | null
  owner: string | null
  share_key: string | null
  state: JobState
  payload: string
  progress: string | null
  result: string | null
  error_code: string | null
  error_message: string | null
  attempts: Generated<number>
  crashes: Generated<number>
  /** Times in a row that the job was put back because a part of the installation was away. */
  outages: Generated<number>
  /** What a job that is to be tried again waits for; null when nothing is away. */
  outage: WaitsOn | null
  outage_since: number | null
  fence: Generated<number>
  /** Who runs it; of a job that was put back, who has what it left (`JobKind.goesOnAtHome`). */
  worker: string | null
  lease_until: number | null
  due_at: number
  wake_at: number | null
  wakes: Generated<number>
  /** Of a job that waits in its lane: not to be admitted before. */
  paused_until: Generated<number | null>
  /** Of a job that was put back: its time in the order of its owner's jobs, in place of `created_at`. */
  queued_at: Generated<number | null>
  live_tasks: Generated<number>
  /** 0: as usual. 1: others of its lane go first, for a while. */
  priority: Generated<number>
  cancel_requested: Generated<number>
  created_at: number
  started_at: number | null
  finished_at: number | null
  delete_after: number | null
  /** Where in a caller's trace it was made, as `traceparent`. */
  trace: Generated<string | null>
  event_type: string | null
  event_data: string | null
}

export interface TasksTable {
  id: string
  job_id: string
  kind: string
  project_id: string | null
  label: string | null
  details: string
  created_at: number
  cancelled_at: number | null
  callback: string | null
  event_type: string | null
  event_data: string | null
}

interface EventsTable {
  /** Grows without a gap, in the order in which readers may see events. */
  seq: Generated<number>
  type: string
  kind: string
  project_id: string | null
  task_id: string | null
  job_id: string | null
  data: string
  at: number
}

interface LanesTable {
  name: string
  /** null: no limit. */
  max_running: number | null
  policy: 'fifo' | 'fair'
  /** Places beyond `max_running` that only an owner without any may take. */
  reserve: Generated<number>
}

interface LaneTurnsTable {
  lane: string
  owner: string
  turn: number
}

interface LaneQueueTable {
  lane: string
  priority: number
  owner: string
  turn: number
  since: number
  head: string
}

interface LaneSharesTable {
  lane: string
  owner: string
  max_running: number
}

interface InstancesTable {
  id: string
  host: string
  pid: number
  version: string
  started_at: number
  seen_at: number
  home: string | null
  store: string | null
  marker: string | null
}

interface LeadersTable {
  name: string
  holder: string
  lease_until: number
}

interface EndedWorkTable {
  kind: string
  at: number
  failed: number
  duration_ms: number
}

interface EndedSpansTable {
  kind: string
  at: number
  finished: number
  failed: number
}
