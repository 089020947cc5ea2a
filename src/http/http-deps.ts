import type { Ledger, ProjectStore, Sealer } from '../engine/index.ts'
import type { Log } from '../kernel/index.ts'
import type { Processing } from '../processing/index.ts'
import type { Idempotency } from './idempotency.ts'
import type { Metrics } from './metrics.ts'

/** What the server is given. */
export interface HttpServerDeps {
  ledger: Ledger
  projects: ProjectStore
  sealer: Sealer
  adminTokenHash: string
  log: Log
  processing?: Processing
}

/** What routes are made from. */
export interface HttpDeps extends HttpServerDeps {
  idempotency: Idempotency
  metrics: Metrics
}
