import type { Attention, Health, KnownAgent, Overview, OverviewHistory } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { Health, Overview }
export type Domain = keyof Overview['domains']
export type DomainFigures = Overview['domains'][Domain]
export type DomainHistory = OverviewHistory['domains'][Domain]
export type HistoryRange = OverviewHistory['range']
export type NoticedFailure = Attention['domains'][Domain]['failures'][number]
export type FailedTargets = NonNullable<NoticedFailure['targets']>
export type NoticedWait = Attention['domains'][Domain]['waiting'][number]

export const getOverview = (signal: AbortSignal): Promise<Overview> => ask('/api/overview', { signal })

export const getHistory = (range: HistoryRange, signal: AbortSignal): Promise<OverviewHistory> =>
  ask(`/api/overview/history?${new URLSearchParams({ range })}`, { signal })

export const getAttention = (signal: AbortSignal): Promise<Attention> =>
  ask('/api/overview/attention', { signal })

export const getHealth = (signal: AbortSignal): Promise<Health> => ask('/api/overview/health', { signal })

/** How many agents may connect, and how many do. */
export async function countAgents(signal: AbortSignal): Promise<{ known: number; connected: number }> {
  const agents = await ask<KnownAgent[]>('/api/agents', { signal })
  return { known: agents.length, connected: agents.filter(({ connected }) => connected).length }
}
