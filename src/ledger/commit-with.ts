import { CompiledQuery, type QueryResult } from 'kysely'

export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>

/** Queries that are several. */
const together = new WeakMap<CompiledQuery, readonly Statement[]>()

/**
 * On PostgreSQL, to be executed as the last query of a transaction, or outside of one: then it is a transaction of its
 * own. Its statements and the commit are one message, so their locks are never held by a client that has stopped. Its
 * rows are the results of the statements.
 */
export function commitWith(statements: readonly Statement[]): CompiledQuery<QueryResult<unknown>> {
  const query = CompiledQuery.raw('commit') as CompiledQuery<QueryResult<unknown>>
  together.set(query, statements)
  return query
}

export function statementsOf(query: CompiledQuery): readonly Statement[] | undefined {
  return together.get(query)
}
