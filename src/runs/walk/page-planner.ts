import type { JobContext } from '../../jobs/index.ts'
import type { FileRecord, FileRecords } from '../accounts/file-records.ts'
import type { FeedItem } from '../feed/feed-page.ts'
import type { NumberedPage } from '../feed/feed-reader.ts'
import type { ItemFilter } from '../feed/item-filter.ts'
import { type AccountFolder, distinctName, nameKey, safeName } from '../files/index.ts'
import type { RunOrder } from '../run-store.ts'
import type { PageTally } from './page-book.ts'

export interface Target {
  item: FeedItem
  record: FileRecord
}

export interface PlannerDeps {
  context: JobContext<RunOrder>
  records: FileRecords
  folder: AccountFolder
  filter: ItemFilter
}

const LOOKS_AT_ONCE = 16

/**
 * Decides what is to be done with the items of a page, and takes the names of the files that will be downloaded.
 *
 * Nothing on the disk is ever overwritten: a file that is there under an item's name is either that item's,
 * and then skipped, or somebody else's, and then the item gets another name.
 */
export class PagePlanner {
  readonly #deps: PlannerDeps
  readonly #order: RunOrder

  constructor(deps: PlannerDeps) {
    this.#deps = deps
    this.#order = deps.context.job.payload
  }

  async plan(page: NumberedPage, tally: PageTally): Promise<Target[]> {
    const { context, records, filter } = this.#deps
    const { handle } = this.#order
    const items = distinctById(page.items)
    tally.skipped += page.items.length - items.length
    tally.failed += page.broken.length
    const wanted = items.filter((item) => filter.wants(item))
    tally.filtered += items.length - wanted.length
    const ids = wanted.map(({ id }) => id)
    const known = await records.byIds(handle, ids)
    const names = await this.#freeNames(wanted.filter(({ id }) => !known.has(id)))
    const targets: Target[] = []
    const changed: FileRecord[] = []
    for (let from = 0; from < wanted.length; from += LOOKS_AT_ONCE) {
      const some = wanted.slice(from, from + LOOKS_AT_ONCE)
      const verdicts = await Promise.all(
        some.map((item) => this.#judge(item, page.number, known.get(item.id), names.get(item.id), tally)),
      )
      for (const [index, verdict] of verdicts.entries()) {
        if (!verdict) continue
        changed.push(verdict)
        if (!verdict.done) targets.push({ item: some[index] as FeedItem, record: verdict })
      }
    }
    if (changed.length > 0) await context.transaction((tx) => records.write(tx, handle, changed))
    return targets
  }

  /** The record to write, or undefined when all is known already. One that is not done is a file to fetch. */
  async #judge(
    item: FeedItem,
    page: number,
    known: FileRecord | undefined,
    free: string | undefined,
    tally: PageTally,
  ): Promise<FileRecord | undefined> {
    const { run_id, kind } = this.#order
    const fresh = {
      itemId: item.id,
      runId: run_id,
      page,
      done: false,
      size: item.size ?? null,
      validator: null,
      failure: null,
    }
    if (!known) {
      const name = free ?? safeName(item.name)
      const there = await this.#deps.folder.look(name)
      if (there === undefined) return { ...fresh, name }
      // Without a size nothing shows that the file is this item's.
      if (there !== 'other' && item.size === there) {
        tally.skipped++
        return { ...fresh, name, runId: null, done: true, size: there }
      }
      return { ...fresh, name: await this.#anotherName(name, item.id) }
    }
    if (known.runId === run_id) return this.#resume(known, page, tally)
    if (known.done && kind === 'continue') return this.#skip(tally)
    const there = await this.#deps.folder.look(known.name)
    if (there === undefined) return { ...fresh, name: known.name, validator: known.validator }
    // A name that was taken and not done, and a file under it: the crash came between the two.
    if (there !== 'other' && (!known.done || known.size === there)) {
      tally.skipped++
      return known.done ? undefined : { ...known, done: true, size: there }
    }
    return { ...fresh, name: await this.#anotherName(known.name, item.id) }
  }

  /** This run has met the item before: on this very page before a crash, or on another one, then it is listed twice. */
  async #resume(known: FileRecord, page: number, tally: PageTally): Promise<FileRecord | undefined> {
    if (known.page !== page) return this.#skip(tally)
    const there = known.done ? known.size : await this.#deps.folder.look(known.name)
    if (typeof there !== 'number') return known
    tally.downloaded++
    tally.bytes += there
    return known.done ? undefined : { ...known, done: true, size: there }
  }

  #skip(tally: PageTally): undefined {
    tally.skipped++
    return undefined
  }

  async #freeNames(items: readonly FeedItem[]): Promise<Map<string, string>> {
    const wishes = items.map(({ id, name }) => ({ id, name: safeName(name) }))
    const taken = await this.#deps.records.takenNames(
      this.#order.handle,
      wishes.map(({ name }) => name),
    )
    const names = new Map<string, string>()
    for (const { id, name } of wishes) {
      const chosen = taken.has(nameKey(name)) ? await this.#anotherName(name, id, taken) : name
      taken.add(nameKey(chosen))
      names.set(id, chosen)
    }
    return names
  }

  async #anotherName(name: string, id: string, alsoTaken: ReadonlySet<string> = new Set()): Promise<string> {
    for (let salt = 0; ; salt++) {
      const other = distinctName(name, id, salt)
      if (alsoTaken.has(nameKey(other))) continue
      if ((await this.#deps.records.takenNames(this.#order.handle, [other])).size > 0) continue
      if ((await this.#deps.folder.look(other)) === undefined) return other
    }
  }
}

function distinctById(items: readonly FeedItem[]): FeedItem[] {
  return [...new Map(items.map((item) => [item.id, item])).values()]
}
