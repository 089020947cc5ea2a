import type { Overview } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { Overview }
export type Domain = keyof Overview['domains']
export type DomainFigures = Overview['domains'][Domain]

export const getOverview = (signal: AbortSignal): Promise<Overview> => ask('/api/overview', { signal })
