import { isAppError, systemClock } from '../../src/kernel/index.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'

/** Run as a process of its own: takes the data dir given as argument, says how that went, and keeps it. */
try {
  openSqliteLedger(process.argv[2] as string, systemClock)
  console.log('open')
  setInterval(() => undefined, 60_000)
} catch (error) {
  console.log(isAppError(error) ? error.code : String(error))
}
