import { ask } from './client.ts'

export type Domain = 'exports' | 'transfers' | 'runs' | 'processing'

export interface DomainFigures {
  queued: number
  running: number
  finished_last_hour: number
  failed_last_hour: number
  per_minute: { minute: string; finished: number; failed: number }[]
  duration_ms: { p50: number; p95: number } | null
}

export interface Overview {
  at: string
  domains: Record<Domain, DomainFigures>
  instances: {
    instance_id: string
    host: string
    version: string
    started_at: string
    seen_at: string
    leader: boolean
  }[]
  leader: string | null
}

export const getOverview = (signal: AbortSignal): Promise<Overview> => ask('/api/overview', { signal })
