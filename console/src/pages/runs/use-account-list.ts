import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { ListPage } from '../../api/runs.ts'
import { useShowMore } from '../../live/show-more.ts'
import { ACCOUNT_KEY } from './patch.ts'

/** A list that belongs to an account, as far as it was asked for. */
export function useAccountList<T>(
  handle: string,
  name: string | [string, string],
  read: (page: ListPage) => Promise<{ items: T[]; next_cursor: string | null }>,
) {
  const queryKey = [...ACCOUNT_KEY, handle, name].flat()
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read({ cursor: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
  })
  const showMore = useShowMore(list, queryKey)
  return {
    items: list.data?.pages.flatMap(({ items }) => items),
    error: list.error,
    more: list.hasNextPage ? showMore : undefined,
    busy: list.isFetching,
  }
}
