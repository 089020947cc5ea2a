import type { Config } from '../config.ts'
import { askReadiness, type Clock, messageOf, readAddress } from '../kernel/index.ts'
import { VERSION } from '../version.ts'
import { checkDisks, checkShared, checkStore } from './doctor/check-files.ts'
import { checkBackup, checkClock, checkLedger, readLedger } from './doctor/check-ledger.ts'
import { checkRedis } from './doctor/check-redis.ts'
import { checkStored } from './doctor/check-stored.ts'
import { type Finding, fail, ok, warn } from './doctor/finding.ts'

/** Longer than the 5 s after which a server answers that its ledger does not: what it says is reported. */
const ANSWER_MS = 8_000

interface Thoroughness {
  /** Given: every stored file is read, until this ends it. */
  files?: AbortSignal
}

/**
 * `wharf doctor` without an address: looks at the installation that the settings name, as it is, running or not. It changes
 * nothing but a small file in the store, which it deletes again.
 */
export async function examineInstallation(config: Config, { files }: Thoroughness = {}): Promise<Finding[]> {
  return [
    ok('settings', `wharf ${VERSION} on Node ${process.version}`),
    ...[...config.misspelt, ...config.doubtful].map((sentence) => warn('settings', sentence)),
    await checkServer(config),
    ...(await examineParts(config)),
    ...(files ? await checkStored(config, files) : []),
  ]
}

/** The parts that a server stands on. */
async function examineParts(config: Config): Promise<Finding[]> {
  const { facts, findings } = await readLedger(config)
  return [
    ...findings,
    ...(facts ? checkLedger(config, facts) : []),
    ...(await checkRedis(config, facts?.instances.length ?? 0)),
    ...(await checkStore(config)),
    ...(facts ? await checkShared(config, facts.instances) : []),
    ...(facts ? checkClock('the ledger', facts.aheadMs) : []),
    ...(await checkDisks(config)),
    ...(facts ? checkBackup(facts, Date.now()) : []),
  ]
}

async function checkServer({ WHARF_DATA_DIR }: Config): Promise<Finding> {
  const address = readAddress(WHARF_DATA_DIR)
  if (address === undefined) return ok('server', `none runs on ${WHARF_DATA_DIR}`)
  const late = AbortSignal.timeout(ANSWER_MS)
  try {
    const { isReady, text } = await askReadiness(address, late)
    if (isReady) return ok('server', `${address} takes requests`)
    return fail('server', `${address} does not take requests: ${text}`)
  } catch (error) {
    // Who takes connections and says nothing is there: it hangs, or was stopped.
    if (late.aborted)
      return fail(
        'server',
        `${address} takes connections and does not answer within ${ANSWER_MS / 1_000} s: the server hangs or is stopped; see its log, and restart it`,
      )
    return warn('server', `${messageOf(error)}; it was killed, or is just starting`)
  }
}

const GOOD_FOR_MS = 60_000

/** What the doctor says of a running server, once for all who look: it writes to the store and opens connections. */
export class Examination {
  readonly #config: Config
  readonly #clock: Pick<Clock, 'now'>
  #latest: { at: number; answer: Promise<{ at: string; findings: Finding[] }> } | undefined

  constructor(config: Config, clock: Pick<Clock, 'now'>) {
    this.#config = config
    this.#clock = clock
  }

  latest(): Promise<{ at: string; findings: Finding[] }> {
    const at = this.#clock.now()
    if (!this.#latest || at - this.#latest.at >= GOOD_FOR_MS) this.#latest = { at, answer: this.#examine(at) }
    return this.#latest.answer
  }

  async #examine(at: number): Promise<{ at: string; findings: Finding[] }> {
    try {
      return { at: new Date(at).toISOString(), findings: await examineParts(this.#config) }
    } catch (error) {
      // Whoever looks next has it tried again.
      this.#latest = undefined
      throw error
    }
  }
}
