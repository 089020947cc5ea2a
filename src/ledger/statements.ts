import { channel } from 'node:diagnostics_channel'
import type { CompiledQuery } from 'kysely'

/** Tells whoever subscribes of every statement that a ledger is sent, with its parameters; costs nothing otherwise. */
export const statements = channel('wharf:ledger:statement')

export function tellStatement({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): void {
  if (statements.hasSubscribers) statements.publish({ sql, parameters })
}
