import { type TSchema, Type } from 'typebox'

/** Shapes that more than one domain has. */
export const Time = Type.String({ format: 'date-time' })

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Failure = Type.Object({ code: Type.String(), message: Type.String() }, { title: 'Failure' })

export const WaitingFor = Type.Object(
  {
    what: Type.Enum(['ledger', 'store', 'disk', 'redis', 'source', 'quota', 'scanner', 'mail']),
    since: Time,
    code: Type.String(),
    message: Type.String(),
    next_try_at: nullable(Time),
  },
  {
    title: 'WaitingFor',
    description: 'What is away or failing. Waiting for a part of the installation uses up no attempt.',
  },
)

export const Ticket = Type.Object({ ticket: Type.String(), expires_at: Time }, { title: 'Ticket' })

export const OneTask = Type.Object({ task_id: Type.String() })
export const OneProject = Type.Object({ project_id: Type.String() })
