import {
  type Engine,
  type OpenWork,
  readLaneLimits,
  readOpenWork,
  type WatchedDomain,
} from '../../jobs/index.ts'

export interface LedgerStateDeps {
  engine: Engine
  /** Domains by name; one with a `depth` has work that is not in the engine's table. */
  watched: Readonly<Record<string, WatchedDomain>>
  settings: { get(key: string): Promise<string | undefined> }
}

export interface LedgerState {
  up: boolean
  work: (OpenWork & { domain: string })[]
  limits: { domain: string; kind: string; limit: number }[]
  lastBackupMs: number | null
}

/** What is read serves every scrape that comes within this time: the ledger pays for one. */
const FRESH_MS = 1_000
/** Written by `wharf backup`. */
const LAST_BACKUP = 'last_backup_at'
const STATES = ['waiting', 'pending', 'running'] as const
const AWAY: LedgerState = { up: false, work: [], limits: [], lastBackupMs: null }

/** The state of the ledger for a scrape, from four statements of which none reads history. Never rejects. */
export class LedgerReader {
  readonly #deps: LedgerStateDeps
  #known: { at: number; state: Promise<LedgerState> } | undefined

  constructor(deps: LedgerStateDeps) {
    this.#deps = deps
  }

  read(): Promise<LedgerState> {
    const now = performance.now()
    if (!this.#known || now - this.#known.at >= FRESH_MS)
      this.#known = { at: now, state: this.#ask().catch(() => AWAY) }
    return this.#known.state
  }

  async #ask(): Promise<LedgerState> {
    const { engine, settings } = this.#deps
    const lanes = await readLaneLimits(engine.ledger)
    const open = await readOpenWork(engine.ledger)
    const counted = await this.#counted()
    const backup = await settings.get(LAST_BACKUP)
    return {
      up: true,
      work: [
        ...engine.kinds.flatMap(({ name: kind, domain }) =>
          STATES.map((state) => ({
            ...{ domain, kind, state, count: 0, oldestMs: 0 },
            ...open.find((row) => row.kind === kind && row.state === state),
          })),
        ),
        ...counted,
      ],
      limits: engine.kinds.flatMap(({ name: kind, domain, lane }) => {
        const limit = lane && lanes.get(lane.name)
        return limit === undefined ? [] : [{ domain, kind, limit }]
      }),
      lastBackupMs: toMs(backup),
    }
  }

  async #counted(): Promise<LedgerState['work']> {
    const counted: LedgerState['work'] = []
    for (const [domain, { kind, depth }] of Object.entries(this.#deps.watched)) {
      const found = await depth?.()
      if (!found) continue
      counted.push({ domain, kind, state: 'pending', count: found.queued, oldestMs: 0 })
      counted.push({ domain, kind, state: 'running', count: found.running, oldestMs: 0 })
    }
    return counted
  }
}

/** Milliseconds since 1970, or a date. */
function toMs(text: string | undefined): number | null {
  const at = /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '')
  return Number.isFinite(at) ? at : null
}
