export { openRuns } from './open-runs.ts'
export {
  Account,
  NewAccount,
  OneAccount,
  OneRun,
  Params,
  Run,
  RunKind,
  RunsState,
  ShortRun,
} from './run-schemas.ts'
export type { Runs } from './runs.ts'
