import { readFileSync } from 'node:fs'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { exportToFolder } from '../../../src/compose-export.ts'
import { openSqlRows, type SqlRows } from '../../../src/exports/source/index.ts'
import { isAppError } from '../../../src/kernel/index.ts'
import { borrowDatabase, createDatabase, runSql } from '../../support/databases.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'

const SCHEMA = `
  create table orders (id bigint primary key, amount numeric, at timestamptz, day date, ok boolean, tags jsonb, note text);
  insert into orders select n, 12345678901234567890.12345 + n, timestamptz '2024-02-29 08:30:15.123456+08', '2024-02-29',
    n % 2 = 0, jsonb_build_object('n', n), case when n = 1 then E'a "b"\\n\\\\ 汉' end from generate_series(0, 999) n;
  create table log (text text);
  create function writes() returns int language plpgsql as $$ begin insert into log values ('x'); return 1; end $$;
  create sequence counter`

/** A database with a few tables, and a role that may read and write all of them but is nobody special. */
async function database() {
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
  return { admin: url, url: reader.href }
}

const signal = () => new AbortController().signal
const direct = async (host: string) => host

async function query(url: string, text: string, params: (string | number | null)[] = []): Promise<SqlRows> {
  const source = { connection: 'x', query: text, params }
  return openSqlRows(source, { driver: 'postgres', url }, { signal: signal(), addressOf: direct })
}

async function rowsOf(rows: SqlRows): Promise<string[]> {
  const texts: string[] = []
  for await (const { text } of rows.pages()) texts.push(text)
  await rows.close()
  return texts
}

describe.skipIf(inject('postgresUrl') === null)('PostgreSQL', () => {
  test('a query that does anything but read is refused, whatever role asks', async () => {
    const { admin, url } = await database()
    const hostile = [
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
    ]
    for (const text of hostile) {
      const outcome = await query(url, text)
        .then(rowsOf)
        .then(
          () => 'read',
          (error: unknown) => error,
        )
      expect(isAppError(outcome) && outcome.kind.code, text).toBe('QUERY_FAILED')
    }
    // What a role may do to large objects before PostgreSQL 16 is undone with the transaction.
    await query(url, 'select lo_create(4711)').then(rowsOf, () => undefined)
    const client = new pg.Client({ connectionString: admin })
    await client.connect()
    const found =
      await client.query(`select (select count(*) from orders)::int as orders, (select count(*) from log)::int as log,
      (select count(*) from pg_largeobject_metadata)::int as objects, (select is_called from counter) as counted,
      (select count(*) from pg_tables where schemaname = 'public')::int as tables`)
    await client.end()
    expect(found.rows).toEqual([{ orders: 1000, log: 0, objects: 0, counted: false, tables: 2 }])
  })

  test('a role that reaches beyond the database, and a ledger of Wharf, are refused as targets', async () => {
    const { admin } = await database()
    await expect(query(admin, 'select 1')).rejects.toMatchObject({ kind: { code: 'CONNECTION_REFUSED' } })
    const ledger = await borrowDatabase()
    onTestFinished(() => ledger.drop())
    await expect(query(ledger.url, 'select 1')).rejects.toThrow(/ledger of Wharf/)
    await expect(query('postgres://u@localhost/x?host=/run/postgresql', 'select 1')).rejects.toThrow(
      /socket file/,
    )
  })

  test('parameters are bound, types are kept, and one snapshot is read', async () => {
    const { admin, url } = await database()
    const one = await query(url, 'select * from orders where id = $1 and $2::text is null', [1, null])
    expect(one.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id integer',
      'amount number',
      'at datetime',
      'day date',
      'ok boolean',
      'tags null',
      'note string',
    ])
    expect(await rowsOf(one)).toEqual([
      '{"data":[{"id":1,"amount":12345678901234567891.12345,"at":"2024-02-29T00:30:15.123456+00:00","day":"2024-02-29","ok":false,' +
        '"tags":{"n": 1},"note":"a \\"b\\"\\n\\\\ 汉"}]}',
    ])
    const injected = await query(url, 'select count(*) as n from orders where note = $1', ["' or true --"])
    expect(await rowsOf(injected)).toEqual(['{"data":[{"n":0}]}'])
    const all = await query(url, 'select id from orders order by id')
    await runSql(admin, 'delete from orders where id > 300')
    const texts = await rowsOf(all)
    const ids = texts.flatMap((text) =>
      (JSON.parse(text) as { data: { id: number }[] }).data.map(({ id }) => id),
    )
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, n) => n))
    const odd = await query(
      url,
      "select 'NaN'::numeric a, 'infinity'::timestamptz b, '{1,2}'::int[] c, interval '1 day' d",
    )
    expect(await rowsOf(odd)).toEqual(['{"data":[{"a":"NaN","b":"infinity","c":"{1,2}","d":"P1D"}]}'])
    const stop = new AbortController()
    const source = { connection: 'x', query: 'select pg_sleep(600)' }
    const slow = openSqlRows(source, { driver: 'postgres', url }, { signal: stop.signal, addressOf: direct })
    stop.abort(new Error('cancelled'))
    await expect(slow).rejects.toThrow('cancelled')
    await expect(query(url, 'select 1 as a, 2 as a')).rejects.toThrow(/two columns are named "a"/)
  })

  test('a query is exported without a server too', async () => {
    const { url } = await database()
    const warnings: string[] = []
    const made = await exportToFolder({
      source: { url: '', headers: {} },
      sql: { url, query: 'select id, day from orders where id < $1 order by id', params: ['2'] },
      wishes: { type: 'jsonl' },
      directory: temporaryFolder(),
      excel: { maxRows: 1, maxBytes: 1 },
      signal: signal(),
      onProgress: () => undefined,
      onWarning: (text) => warnings.push(text),
    })
    expect(readFileSync(made.path, 'utf8')).toBe('{"id":0,"day":"2024-02-29"}\n{"id":1,"day":"2024-02-29"}\n')
    expect(warnings).toEqual([])
  })

  test('an export reads a connection that its project was granted, in every format, and never shows its address', async () => {
    const { url } = await database()
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
