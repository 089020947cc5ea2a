import type { Ledger, Tx } from '../../ledger/index.ts'
import { nameKey } from '../files/index.ts'

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
      for (const row of rows)
        found.set(row.item_id, {
          itemId: row.item_id,
          name: row.name,
          runId: row.run_id,
          page: row.page,
          done: row.done === 1,
          size: row.size,
          validator: row.validator,
        })
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
          some.map(({ itemId, name, runId, page, done, size, validator }) => ({
            handle,
            item_id: itemId,
            name,
            name_key: nameKey(name),
            run_id: runId,
            page,
            done: done ? 1 : 0,
            size,
            validator,
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
          })),
        )
        .execute()
    }
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

function* chunks<T>(values: readonly T[]): Generator<T[]> {
  for (let from = 0; from < values.length; ) {
    const left = values.length - from
    const size = SIZES.find((candidate) => candidate <= left) ?? 1
    yield values.slice(from, from + size)
    from += size
  }
}
