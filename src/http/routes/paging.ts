import { Type } from 'typebox'

const PAGE_SIZE = 50

/** What every list takes beside its own filters. */
export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  /** It holds an id or a name, which may be several thousand characters. */
  cursor: Type.Optional(Type.String({ maxLength: 16_384 })),
}

/** What a list was asked for. By name: a query holds what is no filter, too. */
export function wanted<Q extends { limit?: number; cursor?: string }, K extends keyof Q>(
  query: Q,
  ...filters: K[]
): { limit: number; cursor?: string } & Pick<Q, K> {
  const given = ['limit' as const, 'cursor' as const, ...filters].filter((name) => query[name] !== undefined)
  const values = Object.fromEntries(given.map((name) => [name, query[name]])) as Pick<Q, K>
  return { limit: PAGE_SIZE, ...values }
}
