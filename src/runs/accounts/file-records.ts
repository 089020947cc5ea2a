import { type Selectable, sql } from 'kysely'
import type { Ledger, Schema, Tx } from '../../ledger/index.ts'
import { nameKey } from '../files/index.ts'
import { type Counts, NO_COUNTS } from '../run-progress.ts'

/** One file of an account, as the ledger knows it. */
export interface FileRecord {
  itemId: string
  name: string
  /** The run that made it; null when it was there before any run. */
  runId: string | null
  /** The page of that run which listed it. */
  page: number
  done: boolean
  size: number | null
  validator: string | null
  /** Why it could not be fetched, when it was last tried. */
  failure: FileFailure | null
}

interface FileFailure {
  code: string
  message: string
  /** By this machine's clock. */
  at: number
  /** Where it comes from, as the ledger keeps addresses. */
  url: string
}

/**
 * How many rows one statement carries. A statement for every number of rows would be another text each time, and the
 * ledger keeps statements prepared: some hundred texts with thousands of parameters are a hundred megabytes.
 */
const SIZES = [256, 64, 16, 4, 1] as const

/** Which item is kept under which name. A name is taken here before its download starts, so it is never given twice. */
export class FileRecords {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async byIds(handle: string, ids: readonly string[]): Promise<Map<string, FileRecord>> {
    const found = new Map<string, FileRecord>()
    for (const some of chunks(ids)) {
      const rows = await this.#ledger.db
        .selectFrom('account_files')
        .selectAll()
        .where('handle', '=', handle)
        .where('item_id', 'in', some)
        .execute()
      for (const row of rows) found.set(row.item_id, toRecord(row))
    }
    return found
  }

  /** Those of the names that other items hold. */
  async takenNames(handle: string, names: readonly string[]): Promise<Set<string>> {
    const taken = new Set<string>()
    for (const some of chunks(names.map(nameKey))) {
      const rows = await this.#ledger.db
        .selectFrom('account_files')
        .select('name_key')
        .where('handle', '=', handle)
        .where('name_key', 'in', some)
        .execute()
      for (const { name_key } of rows) taken.add(name_key)
    }
    return taken
  }

  async write(tx: Tx, handle: string, records: readonly FileRecord[]): Promise<void> {
    for (const some of chunks(records)) {
      await tx.db
        .insertInto('account_files')
        .values(
          some.map(({ itemId, name, runId, page, done, size, validator, failure }) => ({
            handle,
            item_id: itemId,
            name,
            name_key: nameKey(name),
            run_id: runId,
            page,
            done: done ? 1 : 0,
            size,
            validator,
            url: failure?.url ?? null,
            error_code: failure?.code ?? null,
            error_message: failure?.message ?? null,
            failed_at: failure?.at ?? null,
          })),
        )
        .onConflict((conflict) =>
          conflict.columns(['handle', 'item_id']).doUpdateSet((eb) => ({
            name: eb.ref('excluded.name'),
            name_key: eb.ref('excluded.name_key'),
            run_id: eb.ref('excluded.run_id'),
            page: eb.ref('excluded.page'),
            done: eb.ref('excluded.done'),
            size: eb.ref('excluded.size'),
            validator: eb.ref('excluded.validator'),
            url: eb.ref('excluded.url'),
            error_code: eb.ref('excluded.error_code'),
            error_message: eb.ref('excluded.error_message'),
            failed_at: eb.ref('excluded.failed_at'),
          })),
        )
        .execute()
    }
  }

  /** Files that failed in other runs than this one, by name; `after` is the name of the last one that is known. */
  async failedBefore(runId: string, handle: string, after: string): Promise<FileRecord[]> {
    const rows = await this.#ledger.db
      .selectFrom('account_files')
      .selectAll()
      .where('handle', '=', handle)
      .where(sql<boolean>`failed_at is not null`)
      .where('name_key', '>', after === '' ? '' : nameKey(after))
      .where((eb) => eb.or([eb('run_id', 'is', null), eb('run_id', '!=', runId)]))
      .orderBy('name_key')
      .limit(SIZES[0])
      .execute()
    return rows.map(toRecord)
  }

  async hasFailed(tx: Tx, handle: string): Promise<boolean> {
    const row = await tx.db
      .selectFrom('account_files')
      .select('item_id')
      .where('handle', '=', handle)
      .where(sql<boolean>`failed_at is not null`)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  /** What a run has done by its files alone. */
  async countsOf(runId: string): Promise<Counts> {
    const row = await this.#ledger.db
      .selectFrom('account_files')
      .select([
        sql<number>`coalesce(sum(done), 0)`.as('downloaded'),
        sql<number>`coalesce(sum(case when failed_at is not null then 1 end), 0)`.as('failed'),
        sql<number>`coalesce(sum(case when done = 1 then size end), 0)`.as('bytes'),
      ])
      .where('run_id', '=', runId)
      .executeTakeFirstOrThrow()
    const { downloaded, failed, bytes } = row
    return {
      ...NO_COUNTS,
      downloaded: Number(downloaded),
      failed: Number(failed),
      bytes: Number(bytes),
    }
  }

  /** A run that has read the whole feed has met all that is in it: failures that it did not meet are of no use. */
  async forgetFailuresBefore(tx: Tx, runId: string, handle: string): Promise<void> {
    await tx.db
      .updateTable('account_files')
      .set({ url: null, error_code: null, error_message: null, failed_at: null })
      .where('handle', '=', handle)
      .where(sql<boolean>`failed_at is not null`)
      .where((eb) => eb.or([eb('run_id', 'is', null), eb('run_id', '!=', runId)]))
      .execute()
  }

  /** Some files that the run made; call again until none is left. */
  async ofRun(runId: string): Promise<{ itemId: string; name: string }[]> {
    const rows = await this.#ledger.db
      .selectFrom('account_files')
      .select(['item_id as itemId', 'name'])
      .where('run_id', '=', runId)
      .limit(SIZES[0])
      .execute()
    return rows
  }

  async forget(handle: string, ids: readonly string[]): Promise<void> {
    for (const some of chunks(ids))
      await this.#ledger.db
        .deleteFrom('account_files')
        .where('handle', '=', handle)
        .where('item_id', 'in', some)
        .execute()
  }
}

function toRecord(row: Selectable<Schema['account_files']>): FileRecord {
  const { failed_at: at, error_code, error_message, url } = row
  return {
    itemId: row.item_id,
    name: row.name,
    runId: row.run_id,
    page: row.page,
    done: row.done === 1,
    size: row.size,
    validator: row.validator,
    failure:
      at === null ? null : { code: error_code ?? '', message: error_message ?? '', at, url: url ?? '' },
  }
}

function* chunks<T>(values: readonly T[]): Generator<T[]> {
  for (let from = 0; from < values.length; ) {
    const left = values.length - from
    const size = SIZES.find((candidate) => candidate <= left) ?? 1
    yield values.slice(from, from + size)
    from += size
  }
}
