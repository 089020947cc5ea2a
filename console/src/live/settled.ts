import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Resolves when nothing is being read for these queries. A refresh and "show more" that meet would break one another off:
 * the page that was asked for would not come, or an event's refresh be lost. So each lets the other finish.
 */
export async function settled(client: QueryClient, queryKey: QueryKey): Promise<void> {
  const busy = client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  await Promise.allSettled(busy.map((query) => query.promise))
}
