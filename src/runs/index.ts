export { openRuns } from './open-runs.ts'
export type { Runs } from './runs.ts'
