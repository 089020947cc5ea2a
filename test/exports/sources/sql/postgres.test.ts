import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { borrowDatabase, createDatabase, queryRows, runSql } from '../../../support/databases.ts'
import { problemOf, startExports } from '../../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../../support/http.ts'
import { askSql, type SqlDatabase, sqlContract, textsOf } from './sql-contract.ts'

const SCHEMA = `
  create table orders (id bigint primary key, amount numeric, at timestamptz, day date, ok boolean, tags jsonb, note text);
  insert into orders select n, 12345678901234567890.12345 + n, timestamptz '2024-02-29 08:30:15.123456+08', '2024-02-29',
    n % 2 = 0, jsonb_build_object('n', n), case when n = 1 then E'a "b"\\n\\\\ 汉' end from generate_series(0, 999) n;
  create table log (text text);
  create function writes() returns int language plpgsql as $$ begin insert into log values ('x'); return 1; end $$;
  create sequence counter`

/** A database with a few tables, and a role that may read and write all of them but is nobody special. */
async function open(): Promise<SqlDatabase> {
  const { url, drop } = await createDatabase()
  const role = `reader_${new URL(url).pathname.slice(1)}`
  await runSql(
    url,
    `${SCHEMA}; create role ${role} login; grant all on all tables in schema public to ${role};
    grant all on all sequences in schema public to ${role}; grant all on schema public to ${role}`,
  )
  onTestFinished(async () => {
    await runSql(url, `drop owned by ${role}; drop role ${role}`)
    await drop()
  })
  const reader = new URL(url)
  reader.username = role
  return {
    url: reader.href,
    run: (sql) => runSql(url, sql),
    state: async () =>
      JSON.stringify(
        await queryRows(
          url,
          `select (select count(*) from orders) as orders, (select count(*) from log) as log,
          (select count(*) from pg_largeobject_metadata) as objects, (select is_called from counter) as counted,
          (select count(*) from pg_tables where schemaname = 'public') as tables`,
        ),
      ),
    async running() {
      const rows = await queryRows(
        url,
        `select pid from pg_stat_activity where usename = '${role}' and (state = 'active' or xact_start is not null)`,
      )
      return rows.length
    },
  }
}

/** A role that needs a password, without one and with a wrong one; the server of the tests asks members of by_password for it. */
async function closedRole(url: string): Promise<string[]> {
  const admin = inject('postgresUrl') as string
  const asks = await queryRows(
    admin,
    "select 1 from pg_hba_file_rules where '+by_password' = any (user_name)",
  )
  if (asks.length === 0) return []
  const role = `closed_${new URL(url).username}`
  await runSql(
    admin,
    `do $$ begin create role by_password; exception when duplicate_object or unique_violation then null; end $$;
    create role ${role} login password 'right' in role by_password`,
  )
  onTestFinished(() => runSql(admin, `drop role ${role}`))
  return ['', 'guess'].map((password) => Object.assign(new URL(url), { username: role, password }).href)
}

describe.skipIf(inject('postgresUrl') === null)('PostgreSQL', () => {
  sqlContract('PostgreSQL', {
    driver: 'postgres',
    open,
    sign: (n) => `$${n}`,
    refused: async (url) => {
      const at = (parts: Partial<Record<'username' | 'password' | 'pathname', string>>) =>
        Object.assign(new URL(url), parts).href
      return [
        [at({ pathname: '/nowhere' }), /there is no database of that name, or .*"nowhere" does not exist/],
        [at({ username: 'nobody_at_all' }), /user or password of the connection is wrong/],
        ...(await closedRole(url)).map((closed): [string, RegExp] => [
          closed,
          /user or password of the connection is wrong/,
        ]),
      ]
    },
    slow: "select set_config('statement_timeout', '0', false), pg_sleep(600)",
    wide: (letters, rows) => `select repeat('x', ${letters}) as a from generate_series(1, ${rows})`,
    hostile: [
      'select 1; drop table log',
      'select 1; commit; insert into log values (1)',
      "insert into log values ('x') returning 1",
      'with gone as (delete from orders returning id) select * from gone',
      "with new as (insert into log values ('x') returning text) select * from new",
      'select writes()',
      "select nextval('counter')",
      'select * into copy from orders',
      'create table t (a int)',
      'drop table log',
      'commit',
      'rollback',
      'set transaction read write',
      "select set_config('transaction_read_only', 'off', false), writes()",
      "copy orders to '/tmp/wharf-copy'",
      "copy orders to program 'cat'",
      'copy orders to stdout',
      "select pg_read_file('/etc/passwd')",
      "select pg_ls_dir('/')",
      "select lo_import('/etc/passwd')",
      "select lo_export(1, '/tmp/wharf-lo')",
      'select * from orders for update',
      'do $$ begin perform writes(); end $$',
      'vacuum',
      'explain analyze delete from orders',
      'listen x',
      'reset all',
      'prepare p as delete from orders',
      'lock table orders',
      'truncate log',
      'alter role current_user superuser',
    ],
    values: {
      query:
        "select *, 'NaN'::numeric a, 'infinity'::timestamptz b, '{1,2}'::int[] c, interval '1 day' d from orders where id = 1",
      columns: [
        'id integer',
        'amount number',
        'at datetime',
        'day date',
        'ok boolean',
        'tags null',
        'note string',
        'a number',
        'b datetime',
        'c string',
        'd string',
      ],
      rows: [
        '{"id":1,"amount":12345678901234567891.12345,"at":"2024-02-29T00:30:15.123456+00:00","day":"2024-02-29","ok":false,' +
          '"tags":{"n": 1},"note":"a \\"b\\"\\n\\\\ 汉","a":"NaN","b":"infinity","c":"{1,2}","d":"P1D"}',
      ],
    },
  })

  test('large objects that a query makes are gone with its transaction', async () => {
    const { url, state } = await open()
    const before = await state()
    await askSql({ driver: 'postgres', url }, 'select lo_create(4711)').then(textsOf, () => undefined)
    expect(await state()).toBe(before)
  })

  test('a role that reaches beyond the database, and a ledger of Wharf, are refused as targets', async () => {
    const { url } = await open()
    const ask = (url: string) => askSql({ driver: 'postgres', url }, 'select 1')
    const admin = new URL(url)
    admin.username = 'wharf'
    await expect(ask(admin.href)).rejects.toMatchObject({ kind: { code: 'CONNECTION_REFUSED' } })
    const ledger = await borrowDatabase()
    onTestFinished(() => ledger.drop())
    await expect(ask(ledger.url)).rejects.toThrow(/ledger of Wharf/)
    const other = new URL(ledger.url)
    other.username = `elsewhere_${other.pathname.slice(1)}`
    await runSql(
      ledger.url,
      `create role ${other.username} login; alter role ${other.username} set search_path = pg_temp`,
    )
    onTestFinished(() => runSql(ledger.url, `drop role ${other.username}`))
    await expect(ask(other.href)).rejects.toThrow(/ledger of Wharf/)
    await expect(ask('postgres://u@localhost/x?host=/run/postgresql')).rejects.toThrow(/socket file/)
  })

  test('an export of a query checks keys, keeps digits and asks the address guard', async () => {
    const { url } = await open()
    const { client, ask } = await startExports()
    const admin = { key: ADMIN_TOKEN }
    const { id } = client.project
    const body = { driver: 'postgres', url, projects: [] as string[] }
    const put = (projects: string[], more = {}) =>
      ask('PUT', '/api/connections/shop', { ...admin, body: { ...body, projects, ...more } })
    const source = {
      kind: 'sql',
      connection: 'shop',
      query: 'select id, amount, note from orders where id < $1 order by id',
      params: [3],
    }
    expect(await problemOf(client.post({ source }))).toMatchObject({
      code: 'CONNECTION_NOT_FOUND',
      status: 404,
    })
    const shown = await (await put([])).text()
    expect(shown).not.toContain('reader_')
    expect(await problemOf(client.post({ source }))).toMatchObject({ code: 'CONNECTION_NOT_FOUND' })
    expect(await problemOf(ask('GET', '/api/connections/shop', { key: client.project.key }))).toMatchObject({
      status: 403,
    })
    await put([id])
    expect(await (await ask('GET', '/api/connections/shop', admin)).json()).toMatchObject({
      driver: 'postgres',
      projects: [id],
    })
    expect(await (await ask('POST', '/api/connections/shop/test', admin)).json()).toEqual({ ok: true })

    const csv = await client.run({ source })
    expect(await client.lines(csv.task_id)).toEqual([
      '"id","amount","note"',
      '0,12345678901234567890.12345,',
      expect.stringMatching(/^1,12345678901234567891.12345,"a ""b""/),
      '2,12345678901234567892.12345,',
    ])
    const jsonl = await client.run({ source, type: 'jsonl' })
    expect((await client.bytes(jsonl.task_id)).toString().split('\n')[2]).toBe(
      '{"id":2,"amount":12345678901234567892.12345,"note":null}',
    )
    const excel = await client.run({
      source: { ...source, query: 'select id, day from orders where id < $1' },
      type: 'excel',
    })
    expect(excel.file).toMatchObject({ rows: 3 })
    const asked = { key: client.project.key, body: { source } }
    const preview = (await (await ask('POST', '/api/exports/preview', asked)).json()) as {
      tables: { rows: unknown[] }[]
    }
    expect(preview.tables[0]).toMatchObject({ total: null, rows: { length: 3 } })

    const twice = { ...source, query: 'select n % 2 as id from generate_series(0, $1::int) n' }
    const repeated = await client.ended(
      (await client.start({ source: twice, key: ['id'], on_duplicates: 'fail' })).task_id,
    )
    expect(repeated.error).toMatchObject({ code: 'SOURCE_ROWS_REPEATED' })

    const bad = await client.ended(
      (await client.start({ source: { ...source, query: 'select nothing' } })).task_id,
    )
    expect(bad).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'QUERY_FAILED' } })
    await put([id], { url: 'postgres://u@10.1.2.3/x' })
    const away = await client.ended((await client.start({ source, fresh: true })).task_id)
    expect(away.error).toMatchObject({ code: 'ADDRESS_REFUSED' })
    expect(await problemOf(client.post({ source, source_url: 'http://localhost/' }))).toMatchObject({
      status: 400,
    })
    expect((await ask('DELETE', '/api/connections/shop', admin)).status).toBe(204)
    expect(await problemOf(ask('POST', '/api/connections/shop/test', admin))).toMatchObject({ status: 404 })
  })
})
