import { QueryClient } from '@tanstack/react-query'
import { Problem } from '../api/problem.ts'
import { session } from '../api/session.ts'

/** Nothing here goes stale by time: the live layer says when to read again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: 'always',
      // What the server refuses, it refuses again; what the way to it lost comes back with the connection.
      retry: (count, error) =>
        !(error instanceof Problem && error.status < 500 && error.status !== 0) && count < 2,
    },
    mutations: { networkMode: 'always' },
  },
})

// What one key has read is not for the next.
session.subscribe(() => {
  if (!session.get()) queryClient.clear()
})
