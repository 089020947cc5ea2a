import { type Static, Type } from 'typebox'
import { Failure, nullable, pageOf, Time, WaitingFor } from '../jobs/index.ts'

/** What a size or a count may be: larger ones JavaScript would round. */
const MAX = Number.MAX_SAFE_INTEGER

/** What an account wants of its feed. */
export const Params = Type.Object(
  {
    types: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 100,
        description: '`video`, `image/png` or `image/*`, in any case',
      }),
    ),
    min_size: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX })),
    max_size: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX })),
    since: Type.Optional(Type.String({ maxLength: 40 })),
    until: Type.Optional(Type.String({ maxLength: 40 })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX, description: 'files that one run downloads at most' }),
    ),
  },
  { title: 'RunParams', additionalProperties: false },
)
export const NewAccount = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 8_192 }), params: Type.Optional(Params) },
  {
    title: 'AccountRequest',
    examples: [{ url: 'https://feeds.example.com/anna', params: { types: ['image'], max_size: 10_000_000 } }],
    additionalProperties: false,
  },
)
export type StoredAccount = Static<typeof StoredAccount>
export const StoredAccount = Type.Object(
  { handle: Type.String(), url: Type.String(), params: Params },
  { title: 'StoredAccount' },
)
/** What a run has done so far. */
export const Progress = Type.Object(
  {
    downloaded: Type.Integer(),
    skipped: Type.Integer(),
    filtered: Type.Integer(),
    failed: Type.Integer(),
    bytes: Type.Integer(),
    rate: Type.Integer({ description: 'bytes per second over the last seconds; 0 when nothing runs' }),
    page: Type.Integer({ description: 'pages read' }),
    cursor: nullable(Type.String({ description: 'where `continue` would go on; null: at the beginning' })),
  },
  { title: 'RunProgress' },
)
const RunStates = ['Queued', 'Running', 'Done', 'Failed', 'Cancelled'] as const
export const RunState = Type.Enum(RunStates, { title: 'RunState' })
export const RunKind = Type.Enum(['start', 'continue', 'retry'], {
  title: 'RunKind',
  description: '`retry` fetches the files that failed, and nothing else',
})
export const Account = Type.Object(
  {
    handle: Type.String(),
    url: Type.String(),
    params: Params,
    state: Type.Enum(['Idle', ...RunStates]),
    locked: Type.Boolean(),
    run_id: nullable(Type.String()),
    progress: Progress,
    error: nullable(Failure),
    waiting_for: nullable(WaitingFor),
    updated_at: Time,
  },
  { title: 'Account' },
)
export const ShortRun = Type.Object(
  { run_id: Type.String(), handle: Type.String(), state: RunState },
  { title: 'AcceptedRun' },
)
export const Run = Type.Object(
  {
    run_id: Type.String(),
    handle: Type.String(),
    kind: RunKind,
    url: Type.String(),
    params: Params,
    state: RunState,
    progress: Progress,
    error: nullable(Failure),
    waiting_for: nullable(WaitingFor),
    created_at: Time,
    started_at: nullable(Time),
    finished_at: nullable(Time),
  },
  { title: 'Run' },
)
export const RunsState = Type.Object(
  {
    seq: Type.Integer(),
    max_concurrent: Type.Integer(),
    queue: Type.Array(Type.String()),
    accounts: Type.Array(Account),
  },
  { title: 'RunsState' },
)
export const OneAccount = Type.Object({ handle: Type.String() })
export const OneRun = Type.Object({ run_id: Type.String() })
export const OneFile = Type.Object({ handle: Type.String(), item_id: Type.String() })

const FileFields = {
  item_id: Type.String({ description: 'Its id in the feed' }),
  name: Type.String({ description: "Its name in the account's folder" }),
  size: nullable(Type.Integer()),
  run_id: nullable(
    Type.String({ description: 'The run that fetched it, or tried last; null: it was there before' }),
  ),
}
export const AccountFilePage = pageOf(Type.Object(FileFields, { title: 'AccountFile' }), 'AccountFilePage')
export const FailedFilePage = pageOf(
  Type.Object(
    {
      ...FileFields,
      url: nullable(Type.String({ description: 'Where it comes from' })),
      error: Failure,
      failed_at: Time,
    },
    { title: 'FailedFile' },
  ),
  'FailedFilePage',
)
export const RunPage = pageOf(Run, 'RunPage')
export const RunLogPage = pageOf(
  Type.Object(
    {
      seq: Type.Integer(),
      at: Time,
      level: Type.Enum(['info', 'warn', 'error']),
      message: Type.String(),
      code: nullable(Type.String({ description: 'Of the error that the line is about' })),
      state: nullable(RunState),
    },
    { title: 'RunLogLine', description: 'With a `state`: the run came into it then' },
  ),
  'RunLogPage',
)
