import type { FileAccess, FileScanner } from '../kernel/index.ts'
import type { GrpcServerOptions } from './grpc/grpc-server.ts'

export interface ProcessingOptions {
  /** null: tasks live in the ledger alone. */
  redis: { url: string; prefix: string } | null
  queueKey: string
  ttlDays: number
  maxReturns: number
  stalledMs: number
  /** How long a processor that says nothing counts as alive. */
  aliveMs: number
  storage: string
  temp: string
  /** Who else uses these two folders. */
  access: FileAccess
  /** Looks at files before they become tasks. */
  scanner: FileScanner | null
  tempTtlMs: number
  /** Nobody else is alive, so a broken hand-off need not be waited for. */
  sole: boolean
  uploadMaxBytes: number
  /** Added to the words for a file that is not here, where it may be on another instance; else empty. */
  elsewhere: string
  grpc: GrpcServerOptions
  /** null: this process makes tasks and works on none. */
  processor: ProcessorSettings | null
}

export interface ProcessorSettings {
  command: string
  concurrency: number
  timeoutMs: number
  retries: number
  resultName: string
  drainMs: number
  access: FileAccess
  environment: Readonly<Record<string, string>>
}
