import { type Clock, counted, DEFAULT_BACKOFF, messageOf } from '../../../kernel/index.ts'
import { PageGetter, planFetch, rowsOfPage } from '../ask/index.ts'
import { askProbe } from '../fetch/index.ts'
import type { HttpSource } from '../http/index.ts'
import { PageBody, type PageSource, type Probe, pageError } from '../pages/index.ts'
import { type DoctorPage, readDoctorPage } from './doctor-page.ts'

export interface Finding {
  level: 'ok' | 'warn' | 'fail'
  check: 'answer' | 'total' | 'shape' | 'ordering' | 'overlap' | 'latency'
  message: string
}

export interface Diagnosis {
  findings: Finding[]
  /** Nothing when no page size worked. */
  recommendation: { pageSize: number; fetchers: number; reason: string } | null
  /** For a source that does not speak Wharf's own protocol: what to send as `source`. */
  source?: { kind: 'http' } & HttpSource
}

export interface DoctorOptions {
  signal: AbortSignal
  /** Tried in this order. */
  pageSizes?: readonly number[]
  maxPageBytes?: number
  pageTimeoutMs?: number
}

/** Page sizes that a request may ask for. */
const PAGE_SIZES = [100, 200, 500, 1_000]
/** A page that takes longer than this is a burden on the source: better smaller ones. */
const SLOW_PAGE_MS = 5_000
const NEARLY_BEST = 0.9

/** Looks at a source as an export would, without spooling anything, and says what it makes of it. */
class SourceDoctor {
  readonly #deps: { source: PageSource; clock: Clock }
  readonly #options: Required<DoctorOptions>
  readonly #getter: PageGetter
  readonly #body = new PageBody()
  readonly #findings: Finding[] = []

  constructor(deps: { source: PageSource; clock: Clock }, options: DoctorOptions) {
    this.#deps = deps
    this.#options = {
      pageSizes: PAGE_SIZES,
      maxPageBytes: 64 * 1024 * 1024,
      pageTimeoutMs: 120_000,
      ...options,
    }
    this.#getter = new PageGetter(deps, { ...this.#options, maxRetryAfterMs: 0 })
  }

  async examine(): Promise<Diagnosis> {
    const { signal } = this.#options
    try {
      const noRetry = { retries: 0, backoff: DEFAULT_BACKOFF, maxRetryAfterMs: 0 }
      const probe = await askProbe(this.#deps, this.#getter, noRetry, signal)
      this.#say('ok', 'answer', probe.wrapped ? 'answers, wrapped in status and msg' : 'answers')
      this.#say(
        probe.total === 0 ? 'warn' : 'ok',
        'total',
        probe.total === 0
          ? 'has no rows at all'
          : `has ${counted(probe.total, 'row')} with ${counted(probe.keys.length, 'key')}`,
      )
      const speeds = probe.total === 0 ? new Map<number, number>() : await this.#tryPages(probe)
      return { findings: this.#findings, recommendation: this.#recommend(probe, speeds) }
    } catch (error) {
      signal.throwIfAborted()
      this.#say('fail', 'answer', pageError(error, 0).message)
      return { findings: this.#findings, recommendation: null }
    }
  }

  /** Milliseconds by page size, for those that came as they should. */
  async #tryPages(probe: Probe): Promise<Map<number, number>> {
    const speeds = new Map<number, number>()
    const { signal, pageSizes } = this.#options
    let looked = false
    for (const pageSize of pageSizes) {
      try {
        const start = this.#deps.clock.now()
        const first = await this.#page(0, pageSize, probe)
        const took = this.#deps.clock.now() - start
        const wanted = rowsOfPage(0, pageSize, probe.total)
        this.#checkTotal(probe, first)
        if (!fits(first, wanted, probe, pageSize)) {
          const reason = `page_size=${pageSize} gave ${counted(first.rows.length, 'row')}, it must give ${wanted}`
          this.#say('fail', 'shape', reason)
          continue
        }
        speeds.set(pageSize, took)
        this.#say(
          took > SLOW_PAGE_MS ? 'warn' : 'ok',
          'latency',
          `${counted(pageSize, 'row')} per page take ${took} ms`,
        )
        if (!looked) await this.#compare(probe, pageSize, first)
        looked = true
        if (pageSize >= probe.total) break
      } catch (error) {
        signal.throwIfAborted()
        this.#say('fail', 'latency', `page_size=${pageSize}: ${messageOf(pageError(error, 0))}`)
      }
    }
    return speeds
  }

  /** What only several pages can show. */
  async #compare(probe: Probe, pageSize: number, first: DoctorPage): Promise<void> {
    if (first.kinds.size > 1)
      this.#say('warn', 'shape', `rows are not alike: ${first.kinds.size} sets of keys within one page`)
    else this.#say('ok', 'shape', 'all rows of a page have the same keys')
    const again = await this.#page(0, pageSize, probe)
    if (again.rows.join() === first.rows.join())
      this.#say('ok', 'ordering', 'the same page twice is the same')
    else {
      const same = new Set(first.rows)
      const moved = again.rows.every((row) => same.has(row))
      const what = moved ? 'has its rows in another order' : 'has other rows'
      this.#say(
        'fail',
        'ordering',
        `the same page asked for twice ${what}: rows may be lost or doubled, sort by a unique key`,
      )
    }
    if (probe.total > pageSize) await this.#compareNext(probe, pageSize, first)
    await this.#checkEnd(probe, pageSize, first)
  }

  async #compareNext(probe: Probe, pageSize: number, first: DoctorPage): Promise<void> {
    const next = await this.#page(1, pageSize, probe)
    const known = new Set(first.rows)
    const shared = next.rows.filter((row) => known.has(row)).length
    if (next.rows.length === rowsOfPage(1, pageSize, probe.total) && shared === next.rows.length)
      this.#say('fail', 'overlap', 'page 1 is page 0 again: the page parameter seems to be ignored')
    else if (shared > 0) this.#say('warn', 'overlap', `pages 0 and 1 share ${shared} equal rows`)
    else this.#say('ok', 'overlap', 'neighbouring pages share no rows')
  }

  /** Whether the total fits the last page, and whether there is more after it where it looks as if there might be. */
  async #checkEnd(probe: Probe, pageSize: number, first: DoctorPage): Promise<void> {
    const { total } = probe
    const last = Math.ceil(total / pageSize) - 1
    const end = last === 0 ? first : await this.#page(last, pageSize, probe)
    const wanted = rowsOfPage(last, pageSize, total)
    if (!fits(end, wanted, probe, pageSize)) {
      const has = `page ${last} of ${counted(pageSize, 'row')}, the last one, has ${counted(end.rows.length, 'row')}`
      return this.#say('fail', 'total', `${has}, it must have ${wanted}: the total of ${total} does not fit`)
    }
    // A source that does not heed the page size may state the rows of the page.
    if (wanted < pageSize && probe.rows <= 1) return
    const known = new Set([...first.rows, ...end.rows])
    for (const page of [last + 1, last + 2]) {
      const after = await this.#page(page, pageSize, probe).catch(() => undefined)
      this.#options.signal.throwIfAborted()
      if (!after || after.rows.length === 0 || hasGrown(probe, after)) return
      const other = after.rows.filter((row) => !known.has(row)).length
      if (other === 0) continue
      const has = `page ${page} is after the last row by the total of ${total}, and has ${counted(other, 'other row')}`
      return this.#say('fail', 'total', `${has}; is the total that of the page?`)
    }
  }

  #checkTotal(probe: Probe, { total }: DoctorPage): void {
    const changed = total !== undefined && total !== probe.total
    if (changed && !this.#findings.some(({ check, level }) => check === 'total' && level === 'warn'))
      this.#say('warn', 'total', `total changed from ${probe.total} to ${total} between two answers`)
  }

  async #page(page: number, pageSize: number, { wrapped }: Probe): Promise<DoctorPage> {
    try {
      await this.#getter.get(page, pageSize, this.#body, this.#options.signal)
      return readDoctorPage(this.#body.bytes, this.#body.length, page, wrapped)
    } catch (error) {
      throw pageError(error, page)
    }
  }

  /** The smallest page size that is nearly as fast as the fastest: smaller pages are kinder when one must be repeated. */
  #recommend({ total }: Probe, speeds: Map<number, number>): Diagnosis['recommendation'] {
    const defaults = { pageSize: 500, fetchers: 1 }
    if (speeds.size === 0) return total === 0 ? { ...defaults, reason: 'nothing to fetch yet' } : null
    const rates = [...speeds].map(([pageSize, took]) => ({
      pageSize,
      took,
      rate: Math.min(pageSize, total) / Math.max(1, took),
    }))
    const patient = rates.filter(({ took }) => took <= SLOW_PAGE_MS)
    const best = Math.max(...(patient.length > 0 ? patient : rates).map(({ rate }) => rate))
    const chosen = (patient.length > 0 ? patient : rates.slice(0, 1)).find(
      ({ rate }) => rate >= best * NEARLY_BEST,
    )
    const { pageSize, rate } = chosen ?? rates[0]!
    const fetchers = planFetch(total, pageSize).length
    const seconds = Math.ceil(total / rate / fetchers / 1_000)
    return {
      pageSize,
      fetchers,
      reason: `about ${seconds} s for ${counted(total, 'row')} at ${Math.round(rate * 1_000)} rows/s a fetcher`,
    }
  }

  #say(level: Finding['level'], check: Finding['check'], message: string): void {
    this.#findings.push({ level, check, message })
  }
}

/** Rows that came meanwhile are no fault: an export leaves them out, with a warning. */
function fits(page: DoctorPage, wanted: number, probe: Probe, pageSize: number): boolean {
  const { length } = page.rows
  return length === wanted || (hasGrown(probe, page) && length > wanted && length <= pageSize)
}

function hasGrown(probe: Probe, { total }: DoctorPage): boolean {
  return total !== undefined && total > probe.total
}

export function examineSource(
  deps: { source: PageSource; clock: Clock },
  options: DoctorOptions,
): Promise<Diagnosis> {
  return new SourceDoctor(deps, options).examine()
}
