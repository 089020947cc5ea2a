import type { Bus, Engine } from '../jobs/index.ts'
import type { Clock, FileScanner, Log } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { ArtifactStore } from '../storage/index.ts'
import type { Tenancy } from '../tenancy/index.ts'

/** What every domain is opened on: the same for all of them, in a server and in a test. */
export interface Ground {
  ledger: Ledger
  engine: Engine
  bus: Bus
  store: ArtifactStore
  /** Outgoing HTTP, with the address guard. */
  net: HttpClient
  tenancy: Tenancy
  /** null: files are not scanned. */
  scanner: FileScanner | null
  /** Where links lead, for a caller who used `origin`; null: unknown. */
  linkBase(origin?: string): string | null
  /** True if a lock proves that no other instance is alive. */
  sole: boolean
  clock: Clock
  log: Log
}
