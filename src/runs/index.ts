export { openRuns } from './open-runs.ts'
export {
  Account,
  NewAccount,
  OneAccount,
  OneRun,
  Run,
  RunKind,
  RunsState,
  ShortRun,
  StoredAccount,
} from './run-schemas.ts'
export type { Runs } from './runs.ts'
