import type { Config } from '../../config.ts'
import { VERSION } from '../../version.ts'
import { remoteStore } from './store.ts'

const HOUR = 3_600_000

export function engineOptions(config: Config, sole: boolean) {
  return {
    version: VERSION,
    sole,
    leaseMs: config.WHARF_LEASE_SECONDS * 1000,
    drainMs: config.WHARF_DRAIN_SECONDS * 1000,
    eventsKeptMs: config.WHARF_EVENT_TTL_HOURS * HOUR,
    defaultSlots: config.WHARF_SLOTS,
    files: {
      dataDir: config.WHARF_DATA_DIR,
      store: remoteStore(config),
      sharedDir: config.WHARF_SHARED_DIR,
    },
  }
}
