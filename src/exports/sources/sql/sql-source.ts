import { type Static, Type } from 'typebox'
import type { FeedPage, OpenRows } from '../pages/index.ts'

const Parameter = Type.Union([
  Type.String({ maxLength: 100_000 }),
  Type.Number(),
  Type.Boolean(),
  Type.Null(),
])

/** Rows of a query, over a connection that an admin has stored. */
export type SqlSource = Omit<Static<typeof SqlSource>, 'kind' | 'params'> & {
  params?: readonly Static<typeof Parameter>[]
}
export const SqlSource = Type.Object(
  {
    kind: Type.Literal('sql'),
    connection: Type.String({ minLength: 1, maxLength: 200 }),
    query: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'One SELECT; $1, $2 … (MySQL, SQLite: ?) stand for params',
    }),
    params: Type.Optional(Type.Array(Parameter, { maxItems: 1_000 })),
  },
  {
    title: 'SqlSource',
    additionalProperties: false,
    description: 'Rows of a database, in place of source_url',
  },
)

export const DRIVERS = ['postgres', 'mysql', 'sqlite'] as const
export type Driver = (typeof DRIVERS)[number]

/** Where a query goes. */
export interface SqlTarget {
  driver: Driver
  /** For SQLite the path of a file. */
  url: string
}

/** A database, and how to get there. */
export interface SqlReach {
  url: string
  /** The address of a host that Wharf may reach, or an error. */
  addressOf(host: string, port: number): Promise<string>
  signal: AbortSignal
  /** How long a query may send nothing, if not five minutes. */
  silenceMs?: number
}

/** An open query: its columns are known, its rows come as they are read. `close` ends its session, however far it came. */
export interface SqlRows extends OpenRows {
  pages(): AsyncIterable<FeedPage>
}

interface Session {
  close(): Promise<void>
}

/** Uses a session, and closes it if that fails. */
export async function orClosed<S extends Session, T>(
  session: S,
  use: (session: S) => Promise<T>,
): Promise<T> {
  try {
    return await use(session)
  } catch (error) {
    await session.close()
    throw error
  }
}
