import { randomBytes } from 'node:crypto'
import mysql from 'mysql2/promise'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { prepareMariadb } from '../../../support/mariadb-server.ts'
import { askSql, type SqlDatabase, sqlContract, textsOf } from './sql-contract.ts'

const launcher = prepareMariadb()
const server = await launcher?.start()
afterAll(async () => {
  await server?.stop()
  launcher?.clean()
})

const root = (database = '') => `mysql://root@127.0.0.1:${server?.port}/${database}`

async function runAll(url: string, ...statements: string[]): Promise<unknown[]> {
  const connection = await mysql.createConnection({ uri: url, rowsAsArray: true })
  try {
    const results: unknown[] = []
    for (const statement of statements) results.push((await connection.query(statement))[0])
    return results
  } finally {
    await connection.end()
  }
}

const SCHEMA = [
  `create table orders (id bigint primary key, amount decimal(30, 5), at timestamp(6), local datetime, day date, ok boolean, tags json,
    note text, small float, large double, flags bit(10), bytes varbinary(10), big bigint unsigned, filled decimal(8, 2) zerofill,
    hour time, y year)`,
  `insert into orders select seq, 1234567890123456789012345.12345, '2024-02-29 08:30:15.123456', '2024-02-29 08:30:15', '2024-02-29',
    seq % 2 = 0, json_object('n', seq), if(seq = 1, 'a "b"\\n\\\\ 汉', null), 0.1, 0.1, 5, x'00ff', 18446744073709551615, 1.5,
    '-25:00:01', 2024 from seq_0_to_999`,
  'create table log (text text)',
  "create function writes() returns int begin insert into log values ('x'); return 1; end",
  "create procedure both_ways() begin insert into log values ('x'); select * from orders; end",
]

async function open(): Promise<SqlDatabase> {
  const name = `wharf_${randomBytes(6).toString('hex')}`
  const user = name.slice(0, 30)
  await runAll(
    root(),
    `create database ${name} character set utf8mb4`,
    `create user ${user}@'%' identified by 'top secret'`,
  )
  await runAll(
    root(name),
    "set time_zone = '+08:00'",
    ...SCHEMA,
    `grant select, insert, update, delete, create, drop, lock tables, execute, create temporary tables on ${name}.* to ${user}@'%'`,
  )
  onTestFinished(async () => {
    await runAll(root(), `drop database ${name}`, `drop user ${user}@'%'`)
  })
  return {
    url: `mysql://${user}:top%20secret@127.0.0.1:${server?.port}/${name}`,
    run: async (sql) => void (await runAll(root(name), sql)),
    state: async () =>
      JSON.stringify(
        await runAll(
          root(name),
          'select count(*) from orders',
          'select count(*) from log',
          'show full tables',
        ),
      ),
    async running() {
      const [rows] = await runAll(
        root(),
        `select id from information_schema.processlist where user = '${user}' and command <> 'Sleep'`,
      )
      return (rows as unknown[]).length
    },
  }
}

describe.skipIf(!server)('MariaDB', () => {
  sqlContract('MariaDB', {
    driver: 'mysql',
    open,
    sign: () => '?',
    reads: ['explain select 1 as n', 'show tables'],
    refused: async (url) => [
      [url.replace('top%20secret', 'guess'), /user or password of the connection is wrong/],
      [url.replace(/\/wharf_\w+$/, '/nowhere'), /there is no database of that name/],
    ],
    slow: 'select sleep(600) as n',
    mostLetters: 16_000_000,
    wide: (letters, rows) =>
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select repeat('x', ${letters}) as a from n`,
    hostile: [
      'select 1; drop table log',
      'select 1; commit; insert into log values (1)',
      "insert into log values ('x') returning text",
      "insert into log values ('x')",
      'delete from orders returning id',
      'replace into log values (1)',
      'select writes()',
      'call both_ways()',
      'create table t (a int)',
      'create temporary table t as select * from orders',
      'drop table log',
      'truncate log',
      'commit',
      'rollback',
      'start transaction',
      'set transaction read write',
      'set session transaction_read_only = 0',
      'set @a = 1',
      "select * from orders into outfile '/tmp/wharf-out'",
      "select id into outfile '/tmp/wharf-out' from orders",
      "select id from orders limit 1 into dumpfile '/tmp/wharf-out'",
      'select id into @a from orders limit 1',
      "load data infile '/etc/passwd' into table log",
      "load data local infile '/etc/passwd' into table log",
      'lock tables orders write',
      'analyze delete from orders',
      "prepare p from 'drop table log'",
      "execute immediate 'drop table log'",
      "begin not atomic insert into log values ('x'); end",
      'handler orders open',
      'grant all on *.* to current_user',
      'kill 1',
      'do sleep(0)',
      'select * from orders for update',
    ],
    values: {
      query: 'select * from orders where id in (1, 2) order by id',
      columns: [
        'id integer',
        'amount number',
        'at datetime',
        'local datetime',
        'day date',
        'ok integer',
        'tags null',
        'note string',
        'small number',
        'large number',
        'flags integer',
        'bytes string',
        'big integer',
        'filled string',
        'hour string',
        'y integer',
      ],
      rows: ['"a \\"b\\"\\n\\\\ 汉"', 'null'].map(
        (note, n) =>
          `{"id":${n + 1},"amount":1234567890123456789012345.12345,"at":"2024-02-29T00:30:15.123456+00:00","local":"2024-02-29T08:30:15",` +
          `"day":"2024-02-29","ok":${n},"tags":{"n": ${n + 1}},"note":${note},"small":0.1,"large":0.1,"flags":5,"bytes":"\\\\x00ff",` +
          '"big":18446744073709551615,"filled":"000001.50","hour":"-25:00:01","y":2024}',
      ),
    },
  })

  test('a user that reaches files of the server is refused as a target, also by a role', async () => {
    await expect(askSql({ driver: 'mysql', url: root() }, 'select 1')).rejects.toMatchObject({
      kind: { code: 'CONNECTION_REFUSED' },
    })
    const { url } = await open()
    const [user] = new URL(url).username.split(':')
    await runAll(root(), `create role filer_${user}`, `grant file on *.* to filer_${user}`)
    await runAll(
      root(),
      `grant filer_${user} to ${user}@'%'`,
      `set default role filer_${user} for ${user}@'%'`,
    )
    await expect(askSql({ driver: 'mysql', url }, "select load_file('/etc/passwd')")).rejects.toThrow(
      /files of the/,
    )
    await runAll(root(), `drop role filer_${user}`)
    expect(
      await textsOf(await askSql({ driver: 'mysql', url }, "select load_file('/etc/passwd') as a")),
    ).toEqual(['{"data":[{"a":null}]}'])
  })

  test('a column with ZEROFILL keeps its zeros, as the server shows them', async () => {
    const { url, run } = await open()
    const types = [
      'tinyint(3)',
      'smallint(5)',
      'mediumint(6)',
      'int(8)',
      'bigint(20)',
      'decimal(8,2)',
      'float',
      'double',
    ]
    const names = types.map((_, n) => `c${n}`)
    await run(
      `create table codes (${types.map((type, n) => `${names[n]} ${type} zerofill`).join()}, wide int(3) zerofill, y year)`,
    )
    await run(
      `insert into codes values (${names.map(() => '7').join()}, 123456, 2024), (${names.map(() => 'null').join()}, 0, 0)`,
    )
    const shown = names.map((name) => `cast(${name} as char) as ${name}`)
    const database = url.slice(url.lastIndexOf('/') + 1)
    const [[expected]] = (await runAll(root(database), `select ${shown.join()} from codes limit 1`)) as [
      string[][],
    ]
    const rows = await askSql({ driver: 'mysql', url }, 'select * from codes')
    const [page] = await textsOf(rows)
    expect(rows.columns.map(({ type }) => type)).toEqual(
      [...types, 'wide'].map(() => 'string').concat('integer'),
    )
    const [first, second] = (JSON.parse(page!) as { data: object[] }).data.map(Object.values)
    expect(first).toEqual([...expected!, '123456', 2024])
    expect(first!.slice(0, 6)).toEqual([
      '007',
      '00007',
      '000007',
      '00000007',
      '00000000000000000007',
      '000007.00',
    ])
    expect(second).toEqual([...names.map(() => null), '000', 0])
    const computed = await askSql({ driver: 'mysql', url }, 'select c3 + 0 as n from codes limit 1')
    expect(await textsOf(computed)).toEqual(['{"data":[{"n":7}]}'])
  })

  test('a wrong password and an unknown option are said', async () => {
    const { url } = await open()
    const wrong = url.replace('top%20secret', 'guess')
    await expect(askSql({ driver: 'mysql', url: wrong }, 'select 1')).rejects.toMatchObject({
      kind: { code: 'CONNECTION_REFUSED' },
    })
    await expect(askSql({ driver: 'mysql', url: `${url}?flags=x` }, 'select 1')).rejects.toThrow(
      /cannot be read/,
    )
  })
})
