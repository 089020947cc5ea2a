import type { Clock, Log, SecretMask } from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import type { ManifestSigner } from '../report/index.ts'
import type { ExportRequest, KeptRows, Table } from '../request/index.ts'
import type {
  FetchLimits,
  OpenRows,
  Probe,
  SqlRows,
  SqlSource,
  StallOptions,
  TextPage,
  Trouble,
} from '../sources/index.ts'
import type { MaskRules, SheetContent, Template } from '../template/index.ts'
import type { ThreadPool } from '../threads/index.ts'

export type Stage = 'fetching' | 'building' | 'uploading'

export interface ProduceDeps {
  http: HttpClient
  pool: ThreadPool
  clock: Clock
  log: Log
  /** Hides the secrets of the request; see `maskingSecrets`. */
  mask?: SecretMask
  /** Signs the manifest inside an archive; without one it is not signed. */
  signer?: ManifestSigner
}

export interface ProduceOptions {
  request: ExportRequest
  sourceHeaders: Record<string, string>
  /** Opens rows that an earlier export has kept. */
  openKept?(kept: KeptRows, signal: AbortSignal): Promise<OpenRows>
  /** Runs a query on one of the caller's connections. */
  openSql?(source: SqlSource, signal: AbortSignal): Promise<SqlRows>
  /** Sign the requests to the source. */
  secrets: readonly string[]
  /** Holds the spool, and the file until it is taken away. */
  directory: string
  limits: FetchLimits
  excel: { maxRows: number; maxBytes: number }
  signal: AbortSignal
  /** The masks that a project demands. */
  masks: MaskRules
  /** An earlier attempt had rows: the file says so if they could not be used. */
  brokenOff?: boolean
  /** The total is null while it is unknown. */
  onProgress(progress: { stage: Stage; fetched: number; total: number | null; bytes: number }): void
  /** Called when the rows of an interrupted call are used; once per table. */
  onResumed?(rows: number): void
  /** Called when a page failed and is asked for again later. The next progress means that it is over. */
  onTrouble?(trouble: Trouble): void
  /** When a slow source gives its place to others. */
  stall?: StallOptions
  /** Rows that were already read: no source is asked. */
  samples?: ReadonlyMap<Table, Sample>
}

/** The first rows of a table, with what was found out about it. */
export interface Sample {
  page: TextPage
  /** There are no further rows. */
  whole: boolean
  template: Template
  content: Required<SheetContent>
  /** Of all rows; null: unknown. */
  total: number | null
  /** Columns of a source that is read one row after the other. */
  keys?: string[]
  /** The first answer of a source that pages. */
  probe?: Probe
}
