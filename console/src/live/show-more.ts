import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { settled } from './settled.ts'

/** The next page of a list, after whatever is being read of it. */
export function useShowMore(list: { fetchNextPage(): Promise<unknown> }, queryKey: QueryKey): () => void {
  const client = useQueryClient()
  return () => void settled(client, queryKey).then(() => list.fetchNextPage())
}
