import type { Static } from 'typebox'
import type { Params } from '../run-schemas.ts'
import type { FeedItem } from './feed-page.ts'

export type AccountParams = Static<typeof Params>

/** Decides which items are wanted. An item without a type or date cannot match a filter on it. */
export class ItemFilter {
  readonly #params: AccountParams
  readonly #types: readonly string[] | undefined
  readonly #since: number
  readonly #until: number

  constructor(params: AccountParams) {
    this.#params = params
    this.#types = params.types?.map((type) => type.toLowerCase())
    this.#since = params.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(params.since)
    this.#until = params.until === undefined ? Number.POSITIVE_INFINITY : endOf(params.until)
  }

  /** Whether there is any time between `since` and `until`. */
  static hasTime(params: AccountParams): boolean {
    const filter = new ItemFilter(params)
    return filter.#since <= filter.#until
  }

  wants(item: FeedItem): boolean {
    return this.#wantsType(item.type) && this.#wantsTime(item.createdAt) && this.wantsSize(item.size)
  }

  /** A size that is not known yet passes; it is checked again when the file's own server has answered. */
  wantsSize(size: number | undefined): boolean {
    const { min_size = 0, max_size = Number.POSITIVE_INFINITY } = this.#params
    return size === undefined || (size >= min_size && size <= max_size)
  }

  get maxSize(): number | undefined {
    return this.#params.max_size
  }

  #wantsType(type: string | undefined): boolean {
    if (!this.#types) return true
    if (type === undefined) return false
    const lower = type.toLowerCase()
    const family = lower.split('/')[0]
    return this.#types.some((wanted) => wanted === lower || wanted === family || wanted === `${family}/*`)
  }

  #wantsTime(time: number | undefined): boolean {
    if (this.#params.since === undefined && this.#params.until === undefined) return true
    return time !== undefined && time >= this.#since && time <= this.#until
  }
}

/** A day without a time means all of that day. */
function endOf(until: string): number {
  const time = Date.parse(until)
  return /^\d{4}-\d{2}-\d{2}$/.test(until) ? time + 24 * 3_600_000 - 1 : time
}
