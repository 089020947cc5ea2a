export {
  type Deadline,
  endsBefore,
  endsWithin,
  follow,
  orAborted,
  startDeadline,
  withDeadline,
  within,
} from './abort.ts'
export { awaitedLater, background, bestEffort } from './background.ts'
export { type Clock, readIsoTime, systemClock } from './clock.ts'
export { CommandLine } from './command/command-line.ts'
export { FileScanner } from './command/file-scanner.ts'
export { runProcess } from './command/run-process.ts'
export { startNode } from './command/start-node.ts'
export { type Duty, DutyLoop } from './duty.ts'
export { isErrno } from './errno.ts'
export { ERROR_WORDS_ZH } from './error-words.ts'
export {
  AppError,
  type AppErrorOptions,
  codeOf,
  ERRORS,
  type ErrorKind,
  isAppError,
  messageOf,
  prefixed,
  WAITS_ON,
  type WaitsOn,
} from './errors.ts'
export { forgetAddress, keepAddress, loopbackOf, readAddress } from './files/address-file.ts'
export {
  accessOf,
  copyFile,
  type FileAccess,
  findLoose,
  makeFolder,
  makeFolderSync,
  makeNewFolder,
  openFile,
  openFileSync,
  openShared,
  readSliceSync,
  syncFolder,
  takeFolder,
  touchFileSync,
  writeFile,
} from './files/files.ts'
export {
  makeNewFolderSync,
  makePlainFolder,
  openPlain,
  readPlain,
  statPlain,
} from './files/plain-file.ts'
export { clearAway, removeTree } from './files/remove-tree.ts'
export { keepSecret, readSecret } from './files/secret-file.ts'
export { freeMemory } from './free-memory.ts'
export { newId } from './id.ts'
export { Lifecycle, type Part } from './lifecycle.ts'
export { createLog, type Log } from './log.ts'
export {
  ledgerPools,
  metrics,
  processMetrics,
  redisConnections,
  statusLabel,
  swarms,
} from './metrics/metrics.ts'
export { MetricSet } from './metrics/prometheus.ts'
export { outageOf, ownOutageOf, toDiskError } from './outage.ts'
export { askOutside, askReadiness, parseJson, textOfAnswer } from './readiness.ts'
export { type Backoff, backoffDelay, DEFAULT_BACKOFF, isRetryableAppError, withRetry } from './retry.ts'
export { SCOPES, type Scope } from './scopes.ts'
export { isAddressable, SHOWN_NAME } from './text/addressable.ts'
export {
  ExactNumber,
  hasAllDigits,
  markIntegerKeys,
  parseKeepingOrder,
  plainKey,
  stringifyKeepingOrder,
} from './text/exact-json.ts'
export { excerpt, SecretMask } from './text/secret-mask.ts'
export { utf8 } from './text/utf8.ts'
export { closest, counted, sizeInWords } from './text/wording.ts'
export {
  type Attributes,
  currentTraceparent,
  type FinishedSpan,
  Span,
  type SpanKind,
  type SpanSink,
  sendSpansTo,
  traced,
} from './trace/span.ts'
export { tellUnforeseenTo, unforeseen } from './unforeseen.ts'
