export { openTransfers } from './open-transfers.ts'
export { Permissions } from './repository/permissions.ts'
export type { Transfers } from './transfers.ts'
export { noTransfer } from './views/transfer-queries.ts'
export {
  AllowedAgents,
  Enrollment,
  KnownAgent,
  NewEnrollment,
  OneAgent,
  Redelivery,
  RepositoryFileView,
  RepositoryPage,
  TransferAccepted,
  type TransferItem,
  TransferJob,
  TransferPage,
  TransferRequestBody,
  TransferState,
  TransferTask,
} from './views/transfer-schemas.ts'
