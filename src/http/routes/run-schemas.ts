import { Type } from 'typebox'

export const Params = Type.Object(
  {
    types: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 })),
    min_size: Type.Optional(Type.Integer({ minimum: 0 })),
    max_size: Type.Optional(Type.Integer({ minimum: 0 })),
    since: Type.Optional(Type.String({ maxLength: 40 })),
    until: Type.Optional(Type.String({ maxLength: 40 })),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)
export const NewAccount = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 8_192 }), params: Type.Optional(Params) },
  { additionalProperties: false },
)
const Progress = Type.Object({
  downloaded: Type.Integer(),
  skipped: Type.Integer(),
  filtered: Type.Integer(),
  failed: Type.Integer(),
  bytes: Type.Integer(),
  rate: Type.Integer(),
  page: Type.Integer(),
  cursor: Type.Union([Type.String(), Type.Null()]),
})
const Failure = Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()])
const Time = Type.String({ format: 'date-time' })
const RunStates = ['Queued', 'Running', 'Done', 'Failed', 'Cancelled'] as const
const RunState = Type.Enum(RunStates)
export const Account = Type.Object({
  handle: Type.String(),
  url: Type.String(),
  params: Params,
  state: Type.Enum(['Idle', ...RunStates]),
  locked: Type.Boolean(),
  run_id: Type.Union([Type.String(), Type.Null()]),
  progress: Progress,
  error: Failure,
  updated_at: Time,
})
export const ShortRun = Type.Object({ run_id: Type.String(), handle: Type.String(), state: RunState })
export const Run = Type.Object({
  run_id: Type.String(),
  handle: Type.String(),
  kind: Type.Union([Type.Literal('start'), Type.Literal('continue')]),
  url: Type.String(),
  params: Params,
  state: RunState,
  progress: Progress,
  error: Failure,
  created_at: Time,
  started_at: Type.Union([Time, Type.Null()]),
  finished_at: Type.Union([Time, Type.Null()]),
})
export const OneAccount = Type.Object({ handle: Type.String() })
export const OneRun = Type.Object({ run_id: Type.String() })
