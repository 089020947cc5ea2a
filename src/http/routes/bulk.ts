import { AppError } from '../../kernel/index.ts'

/** Together they share commits; more would let one request take the place of many. */
const AT_ONCE = 10

export interface BulkItem {
  id: string
  error: { code: string; message: string } | null
}

/**
 * The same for many things, each in its own transaction. What is refused for one is said of that one; when a part of the
 * installation is away, the whole request fails, and can be sent again: what was done before is refused then.
 */
export async function toEach(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<BulkItem[]> {
  const items: BulkItem[] = []
  const all = [...new Set(ids)]
  for (let at = 0; at < all.length; at += AT_ONCE)
    items.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map((id) => toOne(id, work)))))
  return items
}

async function toOne(id: string, work: (id: string) => Promise<unknown>): Promise<BulkItem> {
  try {
    await work(id)
    return { id, error: null }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind.http >= 500) throw error
    return { id, error: { code: error.kind.code, message: error.message } }
  }
}
