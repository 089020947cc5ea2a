import type { OpenRows, TextPage } from '../pages/index.ts'

/** Rows of a query. */
export interface SqlSource {
  /** Name of a connection that an admin has stored. */
  connection: string
  query: string
  params?: readonly (string | number | boolean | null)[]
}

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
  pages(): AsyncIterable<TextPage>
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
