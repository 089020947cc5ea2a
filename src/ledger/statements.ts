import { channel } from 'node:diagnostics_channel'
import { CompiledQuery } from 'kysely'

/** Publishes every statement that a ledger is sent, with its parameters; costs nothing otherwise. */
export const statements = channel('wharf:ledger:statement')

export function tellStatement({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): void {
  if (statements.hasSubscribers) statements.publish({ sql, parameters })
}

const scripts = new WeakSet<CompiledQuery>()

/** Several statements without parameters, to be run as they are. */
export function script(text: string): CompiledQuery {
  const query = CompiledQuery.raw(text)
  scripts.add(query)
  return query
}

export function isScript(query: CompiledQuery): boolean {
  return scripts.has(query)
}
