export type { AccountParams } from './feed/item-filter.ts'
export type { Cleanup } from './run-store.ts'
export type { AccountView, RunView, StateView } from './run-view.ts'
export { Runs, type RunsDeps, type RunsOptions } from './runs.ts'
