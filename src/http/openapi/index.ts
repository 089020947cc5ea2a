export { ACCOUNT_FILE, EXPORT_FILE, SYNC_FILE, TASK_RESULT } from './file-answers.ts'
export { registerOpenApi } from './openapi.ts'
export { UPLOAD } from './upload-answers.ts'
