import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Clock, openFile, touchFileSync } from '../../kernel/index.ts'
import { type Migration, migrate, readMigrations } from '../migrate.ts'
import { openLedgerFile } from '../sqlite/open-sqlite.ts'
import { columnsFor, type LedgerCopy, type Row } from './ledger-copy.ts'

/**
 * Puts a copy in place of the embedded ledger in `dataDir`. The new ledger is made beside the old one and takes its place
 * by a rename, so a process that is killed on the way leaves the old one as it was. The caller holds the folder.
 */
export async function loadSqlite(
  dataDir: string,
  copy: LedgerCopy,
  clock: Clock,
  migrations: Migration[] = readMigrations(),
): Promise<void> {
  const file = join(dataDir, 'ledger.db')
  const made = `${file}.restored`
  try {
    removeDatabase(made)
    touchFileSync(made)
    await fill(made, copy, clock, migrations)
    settle(file)
    renameSync(made, file)
    await syncFolder(dataDir)
  } finally {
    removeDatabase(made)
  }
}

async function fill(file: string, copy: LedgerCopy, clock: Clock, migrations: Migration[]): Promise<void> {
  const { ledger, writer } = openLedgerFile(file, clock)
  try {
    await migrate(
      ledger,
      migrations.filter(({ version }) => version <= copy.schema),
    )
    await load(writer, copy)
    await migrate(ledger, migrations)
    const wrong = writer.prepare('pragma foreign_key_check').all()
    if (wrong.length > 0) throw new Error(`a row of ${wrong[0]?.table} refers to one that is not there`)
  } finally {
    await ledger.close()
  }
  settle(file)
}

/** Triggers would append events and count files a second time. */
async function load(db: DatabaseSync, copy: LedgerCopy): Promise<void> {
  const triggers = db.prepare("select name, sql from sqlite_master where type = 'trigger'").all()
  db.exec('pragma foreign_keys = off; begin')
  for (const { name } of triggers) db.exec(`drop trigger "${name}"`)
  for (const table of copy.tables) {
    const columns = db.prepare(`select name from pragma_table_info('${table}')`).all()
    if (columns.length === 0) throw new Error(`there is no table ${table}`)
    const known = new Set(columns.map(({ name }) => String(name)))
    let insert: { columns: string[]; run(...values: (string | number | null)[]): unknown } | undefined
    const put = (row: Row) => {
      insert ??= prepareInsert(db, table, columnsFor(table, row, known))
      insert.run(...insert.columns.map((column) => row[column] ?? null))
    }
    const isLater = (row: Row) => table === 'events' && row.seq === null
    let later = 0
    for await (const row of copy.rows(table)) {
      if (isLater(row)) later++
      else put(row)
    }
    // Events that nobody had numbered yet get the numbers after all others.
    if (later > 0) for await (const row of copy.rows(table)) if (isLater(row)) put(row)
  }
  for (const { sql } of triggers) db.exec(String(sql))
  db.exec('commit; pragma foreign_keys = on')
}

function prepareInsert(db: DatabaseSync, table: string, columns: string[]) {
  const names = columns.map((column) => `"${column}"`).join(', ')
  const values = columns.map(() => '?').join(', ')
  const statement = db.prepare(`insert into "${table}" (${names}) values (${values})`)
  return { columns, run: statement.run.bind(statement) }
}

/** Brings what is in the log beside a database into it, so that the one file is all of it. */
function settle(file: string): void {
  touchFileSync(file)
  const db = new DatabaseSync(file)
  try {
    db.exec('pragma synchronous = full; pragma journal_mode = delete')
  } finally {
    db.close()
  }
}

function removeDatabase(file: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${ending}`, { force: true })
}

async function syncFolder(path: string): Promise<void> {
  const handle = await openFile(path)
  await handle.sync().finally(() => handle.close())
}
