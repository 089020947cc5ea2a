import type { Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import type { Selectable } from 'kysely'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../../ledger/index.ts'
import { type ArtifactStore, checkedStream, damaged } from '../../storage/index.ts'
import type { Quotas } from '../../tenancy/index.ts'
import type { KeptRows, Table } from '../request/index.ts'
import type { FeedPage, OpenRows } from '../sources/index.ts'

/** What another file can be made of: a table whose source is what was kept. */
export type KeptTable = Table & { kept: KeptRows }

const PAGE_BYTES = 512 * 1024
const LINE_FEED = 0x0a
const COMMA = 0x2c

/** The rows of a compressed file, whatever `open` reads it from. */
export function readKeptRows(
  open: () => Promise<Readable>,
  { columns, rows }: Pick<KeptRows, 'columns' | 'rows'>,
): OpenRows {
  let stream: Readable | undefined
  async function* pages(): AsyncGenerator<FeedPage> {
    const source = await open()
    stream = source
    const lines = createZstdDecompress()
    // Either side's end is the other's; the reader below hears of it.
    source.once('error', (error) => lines.destroy(error))
    lines.once('close', () => source.destroy())
    source.pipe(lines)
    let held: Buffer[] = []
    let size = 0
    let found = 0
    const counted = (page: FeedPage) => {
      found += page.rows
      return page
    }
    for await (const chunk of unpacked(lines)) {
      held.push(chunk)
      size += chunk.length
      if (size < PAGE_BYTES) continue
      const bytes = Buffer.concat(held, size)
      const end = bytes.lastIndexOf(LINE_FEED) + 1
      if (end > 0) yield counted(pageOf(bytes.subarray(0, end)))
      held = [bytes.subarray(end)]
      size = bytes.length - end
    }
    if (size > 0) yield counted(pageOf(Buffer.concat(held, size)))
    if (found !== rows) throw damaged(`${found} of the rows are there, and ${rows} were kept`)
  }
  const close = async () => {
    stream?.destroy()
  }
  return { columns, total: rows, pages, close }
}

async function* unpacked(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* lines
  } catch (error) {
    const { code = '' } = error as { code?: string }
    throw /^(?:Z_|ZSTD_|ERR_ZSTD)/.test(code)
      ? damaged('the rows that were kept cannot be unpacked', error)
      : error
  }
}

/** A line feed occurs at the end of a line only: inside of texts it is escaped. */
function pageOf(lines: Buffer): FeedPage {
  let rows = 0
  for (let at = lines.indexOf(LINE_FEED); at >= 0; at = lines.indexOf(LINE_FEED, at + 1)) {
    lines[at] = COMMA
    rows++
  }
  return { text: `{"data":[${lines.toString('utf8', 0, lines.length - 1)}]}`, rows }
}

type KeptRow = Selectable<Schema['export_rows']>

/** What the ledger knows of kept rows. */
export class KeptRowsStore {
  readonly #deps: { ledger: Ledger; store: ArtifactStore; quotas: Quotas }

  constructor(deps: { ledger: Ledger; store: ArtifactStore; quotas: Quotas }) {
    this.#deps = deps
  }

  /** The tables of an export whose rows are kept, or the reason why there are none. */
  async require(
    jobId: string,
    db: Pick<Tx['db'], 'selectFrom'> = this.#deps.ledger.db,
  ): Promise<KeptTable[]> {
    const row = await db.selectFrom('export_rows').selectAll().where('job_id', '=', jobId).executeTakeFirst()
    if (!row)
      throw new AppError(
        ERRORS.ROWS_NOT_KEPT,
        'the rows of this export were not kept; keep_rows_hours in its request keeps them',
        { retryable: false },
      )
    if (row.removed_at !== null || (await this.#deps.ledger.now()) >= row.expires_at)
      throw new AppError(
        ERRORS.ROWS_EXPIRED,
        `the rows of this export were kept until ${new Date(row.removed_at ?? row.expires_at).toISOString()}`,
        { retryable: false },
      )
    return JSON.parse(row.tables) as KeptTable[]
  }

  async open(kept: KeptRows, signal: AbortSignal): Promise<OpenRows> {
    await this.require(kept.jobId)
    signal.throwIfAborted()
    const open = async () => {
      const opened = await this.#deps.store.open(kept.key)
      return kept.sha256 === undefined ? opened.stream : checkedStream(opened, kept.sha256)
    }
    return readKeptRows(open, kept)
  }

  async remove(jobId: string): Promise<void> {
    const row = await this.#deps.ledger.db
      .selectFrom('export_rows')
      .selectAll()
      .where('job_id', '=', jobId)
      .executeTakeFirst()
    if (row) await this.#remove(row)
  }

  /** Deletes what is past its time; answers how many exports that were. */
  async sweep(at: number, batch: number): Promise<number> {
    const due = await this.#deps.ledger.db
      .selectFrom('export_rows')
      .selectAll()
      .where('removed_at', 'is', null)
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .limit(batch)
      .execute()
    for (const row of due) await this.#remove(row)
    return due.length
  }

  /** Safe to repeat: removal precedes the mark. */
  async #remove({ job_id, project_id, size, tables }: KeptRow): Promise<void> {
    const { ledger, store, quotas } = this.#deps
    for (const { kept } of JSON.parse(tables) as KeptTable[]) await store.delete(kept.key)
    await ledger.transaction(async (tx) => {
      const marked = await tx.db
        .updateTable('export_rows')
        .set({ removed_at: now })
        .where('job_id', '=', job_id)
        .where('removed_at', 'is', null)
        .executeTakeFirst()
      if (marked.numUpdatedRows > 0n) quotas.add(tx, project_id, { disk: -Number(size) })
    })
  }
}
