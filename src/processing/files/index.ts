export { copyWhole } from './copy-whole.ts'
export { HandOff } from './hand-off.ts'
export { ResultFiles } from './result-files.ts'
export { isFolderName, readTaskLog, type TaskLog, TaskLogWriter } from './task-log.ts'
