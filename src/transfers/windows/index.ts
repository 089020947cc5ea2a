export {
  endOf,
  hasEnded,
  type TransferWindow,
  toTarget,
  toWindow,
  type WindowTarget,
} from './transfer-window.ts'
export { WindowFiles } from './window-files.ts'
export { PlacesTaken, WindowJoin, type WindowJoinDeps } from './window-join.ts'
export { type TargetChange, WindowStore } from './window-store.ts'
export type { Joined, JoinedTask } from './write-joins.ts'
