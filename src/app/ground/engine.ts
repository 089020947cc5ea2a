import type { Config } from '../../config.ts'
import { EXPORT_RESERVE } from '../../exports/index.ts'
import { VERSION } from '../../version.ts'
import { remoteStore } from './store.ts'

const HOUR = 3_600_000
const TRANSFER_SLOTS = 512

export function engineOptions(config: Config, sole: boolean) {
  return {
    version: VERSION,
    sole,
    leaseMs: config.WHARF_LEASE_SECONDS * 1000,
    drainMs: config.WHARF_DRAIN_SECONDS * 1000,
    eventsKeptMs: config.WHARF_EVENT_TTL_HOURS * HOUR,
    defaultSlots: config.WHARF_SLOTS,
    // Runs have a limit of their own over all instances, which may be moved at any time. A transfer mostly waits for
    // its engine; the next window must not wait for a slot.
    files: {
      dataDir: config.WHARF_DATA_DIR,
      store: remoteStore(config),
      sharedDir: config.WHARF_SHARED_DIR,
    },
    slots: {
      export: config.WHARF_EXPORT_CONCURRENCY + EXPORT_RESERVE,
      runs: 1_000,
      transfer: TRANSFER_SLOTS,
    },
  }
}
