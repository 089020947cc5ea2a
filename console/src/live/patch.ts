import type { QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../api/events.ts'
import type { Refresher } from './refresher.ts'

/** Applies an event to what the pages have read: at once where the event has enough, else by reading again. */
export type Patch = (event: LiveEvent, client: QueryClient, refresher: Refresher) => void
