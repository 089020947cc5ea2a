import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../src/kernel/index.ts'
import { migrate } from '../../../../src/ledger/index.ts'
import { openSqliteLedger } from '../../../../src/ledger/sqlite/open-sqlite.ts'
import { temporaryFolder } from '../../../support/wharf-process.ts'
import { askSql, type SqlDatabase, sqlContract, textsOf } from './sql-contract.ts'

const SCHEMA = `
  create table orders (id integer primary key, amount real, big bigint, at datetime, day date, ok boolean, note text, bytes blob, any);
  with recursive n(i) as (select 0 union all select i + 1 from n where i < 999)
  insert into orders select i, 0.1, 9223372036854775807, '2024-02-29T08:30:15.123456+08:00', '2024-02-29', i % 2 = 0,
    case when i = 1 then 'a "b"' || char(10) || '\\ 汉' end, x'00ff', case when i = 1 then 9e999 else '1' end from n;
  create table log (text text)`

async function open(): Promise<SqlDatabase> {
  const path = join(temporaryFolder(), 'shop.db')
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; ${SCHEMA}`)
  onTestFinished(() => database.close())
  return {
    url: path,
    run: async (sql) => database.exec(sql),
    async state() {
      const texts = [
        'select count(*) as n from orders',
        'select count(*) as n from log',
        'select * from sqlite_master',
      ]
      return JSON.stringify([
        texts.map((text) => database.prepare(text).all()),
        database.prepare('pragma user_version').all(),
      ])
    },
    running: async () => readers(),
  }
}

/** Processes of this one that read files. */
function readers(): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return Number(parent) === process.pid && command.includes('sqlite-child')
    } catch {
      return false
    }
  }).length
}

sqlContract('SQLite', {
  driver: 'sqlite',
  open,
  sign: () => '?',
  reads: ['explain select 1 as n'],
  slow: 'with recursive n(i) as (select 0 union all select i + 1 from n where i < 1e15) select count(*) as n from n',
  wide: (letters, rows) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select hex(zeroblob(${letters / 2})) as a from n`,
  hostile: [
    'select 1; drop table log',
    'select 1; -- harmless\n delete from orders',
    "insert into log values ('x') returning text",
    'delete from orders',
    'update orders set note = 1 returning id',
    'create table t (a)',
    'create temp table t as select * from orders',
    'drop table log',
    "attach '/etc/passwd' as other",
    "attach ':memory:' as other",
    'pragma user_version = 7',
    'pragma journal_mode = delete',
    'pragma table_info(orders)',
    "select * from pragma_table_info('orders')",
    "select load_extension('/tmp/x.so')",
    'begin',
    'commit',
    'rollback',
    'savepoint a',
    'vacuum',
    "vacuum into '/tmp/wharf-vacuum'",
    'reindex',
    'analyze',
    "select writefile('/tmp/wharf-file', 'x')",
    "select readfile('/etc/passwd')",
    '-- nothing',
  ],
  values: {
    query: 'select * from orders where id in (1, 2) order by id',
    columns: [
      'id integer',
      'amount number',
      'big integer',
      'at datetime',
      'day date',
      'ok null',
      'note string',
      'bytes null',
      'any null',
    ],
    rows: [
      '{"id":1,"amount":0.1,"big":9223372036854775807,"at":"2024-02-29T08:30:15.123456+08:00","day":"2024-02-29","ok":0,' +
        '"note":"a \\"b\\"\\n\\\\ 汉","bytes":"\\\\x00ff","any":"Infinity"}',
      '{"id":2,"amount":0.1,"big":9223372036854775807,"at":"2024-02-29T08:30:15.123456+08:00","day":"2024-02-29","ok":1,' +
        '"note":null,"bytes":"\\\\x00ff","any":"1"}',
    ],
  },
})

test('a file that is a ledger of Wharf, no database, no file or not there is refused', async () => {
  const folder = temporaryFolder()
  const ask = (url: string) => askSql({ driver: 'sqlite', url }, 'select 1 as n').then(textsOf)
  const ledger = openSqliteLedger(folder, systemClock)
  await migrate(ledger)
  await expect(ask(join(folder, 'ledger.db'))).rejects.toThrow(/ledger of Wharf/)
  await ledger.close()
  writeFileSync(join(folder, 'text'), 'x'.repeat(5000))
  await expect(ask(join(folder, 'text'))).rejects.toMatchObject({ kind: { code: 'CONNECTION_REFUSED' } })
  await expect(ask(folder)).rejects.toThrow(/is no file/)
  await expect(ask('/dev/zero')).rejects.toThrow(/is no file/)
  await expect(ask(join(folder, 'missing'))).rejects.toMatchObject({ kind: { code: 'SOURCE_UNREACHABLE' } })
})

test('placeholders with a name or a number are refused: their values would be NULL', async () => {
  const { url } = await open()
  for (const sign of ['?1', '$1', ':id', '@id']) {
    const asked = askSql({ driver: 'sqlite', url }, `select id from orders where id < ${sign}`, [])
    await expect(asked.then(textsOf), sign).rejects.toThrow(`has the placeholder ${sign};`)
  }
})
