import { type Static, Type } from 'typebox'
import { nullable, pageOf, Time, WaitingFor } from '../../jobs/index.ts'

const uint32 = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
export const TransferState = Type.Enum(['Pending', 'Running', 'Success', 'Failed', 'Timeout'], {
  title: 'TransferState',
})

const RepositoryFields = {
  path: Type.String(),
  size: Type.Integer(),
  signature: Type.String({ description: 'SHA-256, hexadecimal' }),
}

export type RepositoryFile = Static<typeof RepositoryFileView>
export const RepositoryFileView = Type.Object(RepositoryFields, { title: 'RepositoryFile' })

export const RepositoryPage = pageOf(
  Type.Object({ ...RepositoryFields, put_at: Time }, { title: 'StoredRepositoryFile' }),
  'RepositoryPage',
)

export const TransferRequestBody = Type.Object(
  {
    biz_id: uint32,
    app_id: uint32,
    file_path: Type.Optional(Type.String({ maxLength: 4096, description: 'Directory in the repository' })),
    file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    file_signature: Type.Optional(Type.String({ description: 'SHA-256, hexadecimal' })),
    export_task_id: Type.Optional(
      Type.String({ maxLength: 200, description: 'A finished export in place of path and signature' }),
    ),
    target_agent_id: Type.String({ minLength: 1, maxLength: 256 }),
    target_container_id: Type.Optional(
      Type.String({ maxLength: 256, description: 'Empty: the host itself' }),
    ),
    target_user: Type.Optional(Type.String({ maxLength: 256, description: 'Owner of the file there' })),
    target_file_dir: Type.String({ minLength: 1, maxLength: 4096 }),
  },
  {
    title: 'TransferRequest',
    examples: [
      {
        biz_id: 7,
        app_id: 1,
        file_path: '/tools',
        file_name: 'agent.tar.gz',
        file_signature: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        target_agent_id: 'host-17',
        target_container_id: '',
        target_user: 'root',
        target_file_dir: '/opt/tools',
      },
    ],
    additionalProperties: false,
  },
)

export const TransferAccepted = Type.Object(
  { task_id: Type.String(), job_id: Type.String() },
  { title: 'TransferAccepted' },
)

export const Redelivery = Type.Object(
  {
    job_id: Type.String({ description: 'The delivery that the targets are in now' }),
    targets: Type.Integer({ description: 'Asked for again' }),
    refused: Type.Array(
      Type.Object({
        agent_id: Type.String(),
        container_id: Type.String(),
        code: Type.String(),
        detail: Type.String(),
      }),
      { description: 'Targets that the project may not send to any more' },
    ),
  },
  { title: 'Redelivery' },
)

const FileFields = {
  job_id: Type.String(),
  project_id: Type.String(),
  biz_id: uint32,
  app_id: uint32,
  file_path: Type.String(),
  file_name: Type.String(),
  file_signature: Type.String(),
  status: TransferState,
  created_at: Time,
}

/** One caller's request. */
export const TransferTask = Type.Object(
  {
    task_id: Type.String(),
    ...FileFields,
    target_agent_id: Type.String(),
    target_container_id: Type.String(),
    target_user: Type.String(),
    target_file_dir: Type.String(),
    error_code: Type.Integer({ description: '0 success, 115 downloading, anything else failed' }),
    error_msg: Type.String(),
    progress: Type.Object({ percent: Type.Integer() }),
    waiting_for: nullable(WaitingFor),
  },
  { title: 'TransferTask' },
)

const Target = Type.Object(
  {
    error_code: Type.Integer(),
    error_msg: Type.String(),
    progress: Type.Integer(),
    connected: Type.Boolean({
      description: 'false: the download waits for the agent, which is not connected; true otherwise',
    }),
    place: Type.Integer({ description: 'Where the file goes: an index into `places`' }),
  },
  { title: 'TransferTarget' },
)

const Place = Type.Object(
  {
    directory: Type.String(),
    user: Type.String({ description: 'Owner of the file; empty: the user that the agent runs as' }),
    targets: Type.Integer(),
  },
  { title: 'TransferPlace' },
)

const Targets = Type.Record(Type.String(), Target, { description: 'Keyed agent_id:container_id' })

const BytesFields = {
  file_size: nullable(Type.Integer({ description: 'Known once the delivery has begun' })),
  delivered_bytes: Type.Integer({ description: 'The size times the targets that have the file' }),
  egress_bytes: nullable(
    Type.Integer({ description: 'What the server itself has sent; null: its carrier does not say' }),
  ),
}

/** A delivery in a list: counts in place of its targets. */
export const TransferItem = Type.Object(
  {
    ...FileFields,
    ...BytesFields,
    targets: Type.Object({
      total: Type.Integer(),
      success: Type.Integer(),
      failed: Type.Integer(),
      downloading: Type.Integer(),
      absent: Type.Integer({ description: 'Agents that are not connected, and are waited for' }),
      timeout: Type.Integer(),
    }),
    window_starts_at: Time,
    window_ends_at: Time,
    executed_at: nullable(Time),
    finished_at: nullable(Time),
  },
  { title: 'TransferItem' },
)

export const TransferPage = pageOf(TransferItem, 'TransferPage')

/** The delivery of one window. */
export const TransferJob = Type.Object(
  {
    ...FileFields,
    ...BytesFields,
    engine_task_id: nullable(Type.String()),
    targets: Type.Integer(),
    success_targets: Targets,
    failed_targets: Targets,
    downloading_targets: Targets,
    timeout_targets: Targets,
    places: Type.Array(Place, { description: 'Directories and owners, the one with the most targets first' }),
    window_ends_at: Time,
    executed_at: nullable(Time),
    finished_at: nullable(Time),
    waiting_for: nullable(WaitingFor),
  },
  { title: 'TransferJob' },
)

export const AllowedAgents = Type.Object(
  {
    agents: nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 10_000,
        description: 'Ids, or prefixes of ids followed by *; null: all',
      }),
    ),
  },
  { title: 'AllowedAgents', additionalProperties: false },
)

/** It is a part of addresses, from which clients take `.` and `..`. */
const AgentId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^(?!\\.{1,2}$)[^\\x00-\\x1f\\x7f]+$',
})
const ContainerId = Type.String({
  maxLength: 256,
  pattern: '^(?!\\.{1,2}$)[^\\x00-\\x1f\\x7f]*$',
  description: 'Empty: the host itself',
})

export const NewEnrollment = Type.Object(
  { agent_id: AgentId, container_id: Type.Optional(ContainerId) },
  {
    title: 'EnrollmentRequest',
    examples: [{ agent_id: 'host-17', container_id: '' }],
    additionalProperties: false,
  },
)

export const Enrollment = Type.Object(
  {
    token: Type.String({ description: 'For `wharf agent --enroll`, once; shown only here' }),
    expires_at: Time,
  },
  { title: 'Enrollment' },
)

export const OneAgent = Type.Object({ agent_id: Type.String(), container_id: Type.String() })

export const KnownAgent = Type.Object(
  {
    agent_id: Type.String(),
    container_id: Type.String({ description: 'Empty: the host itself' }),
    connected: Type.Boolean(),
    version: Type.String({ description: 'What it runs, or ran last; empty: it was never connected' }),
    host: Type.String({ description: 'Where other agents reach it; empty: it is not connected' }),
    port: Type.Integer(),
    instance: Type.String({ description: 'The instance of Wharf that it is connected to' }),
    connected_at: nullable(Time),
    seen_at: nullable(Time),
    enrolled_at: nullable(Time),
  },
  { title: 'KnownAgent' },
)
