import type { ProjectStore } from './project-store.ts'
import type { Quotas } from './quotas.ts'
import type { Sealer } from './sealer.ts'
import type { SettingsStore } from './settings-store.ts'
import type { Tickets } from './tickets.ts'

/** What domains need to know of their callers, and how they keep secrets. */
export interface Tenancy {
  projects: ProjectStore
  quotas: Quotas
  sealer: Sealer
  tickets: Tickets
  settings: SettingsStore
}
