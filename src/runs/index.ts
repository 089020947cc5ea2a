export { openRuns } from './open-runs.ts'
export {
  Account,
  AccountFilePage,
  FailedFilePage,
  NewAccount,
  OneAccount,
  OneFile,
  OneRun,
  Run,
  RunKind,
  RunLogPage,
  RunPage,
  RunsState,
  ShortRun,
  StoredAccount,
} from './run-schemas.ts'
export type { Runs } from './runs.ts'
