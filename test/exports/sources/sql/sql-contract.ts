import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { exportToFolder } from '../../../../src/app/export.ts'
import { type Driver, openSqlRows } from '../../../../src/exports/index.ts'
import type { SqlRows } from '../../../../src/exports/sources/index.ts'
import { isAppError } from '../../../../src/kernel/index.ts'
import { problemOf, startExports } from '../../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../../support/http.ts'
import { until } from '../../../support/until.ts'
import { temporaryFolder } from '../../../support/wharf-process.ts'

/** A database that holds `orders` with 1,000 rows of ids from 0, and an empty `log`. */
export interface SqlDatabase {
  /** For somebody who may read and write all of its tables, but is nobody special. */
  url: string
  /** Changes it, past Wharf. */
  run(sql: string): Promise<void>
  /** What a hostile query could change, as text. */
  state(): Promise<string>
  /** Queries of Wharf that it is still at. */
  running(): Promise<number>
}

/** Statements that no export takes, whether or not a database knows them. */
const NOT_READING = [
  ...[
    'delete from orders',
    "insert into log values ('x')",
    'create table t (a int)',
    'copy orders to stdout',
  ],
  ...[
    'set a = 1',
    'commit',
    'lock table log',
    'vacuum',
    'call p()',
    'do 1',
    'pragma user_version',
    'selct 1',
  ],
  ...[
    'explain select 1 as n',
    'show tables',
    '/* a; b */ update log set text = 1',
    '-- select\n  (DELETE FROM log)',
  ],
]

export interface SqlKit {
  driver: Driver
  /** Of the statements that others refuse, those that only read here. */
  reads?: readonly string[]
  /** Targets on the same server that let nobody in, with what is said of them. */
  refused?(url: string): Promise<readonly [string, RegExp][]>
  open(): Promise<SqlDatabase>
  /** The sign for the parameter `n`, from 1. */
  sign(n: number): string
  hostile: readonly string[]
  /** Takes minutes before its first row. */
  slow: string
  /** Rows with one column, each with a text of so many letters. */
  wide(letters: number, rows: number): string
  /** Where the database itself has a limit for a row, below that of Wharf. */
  mostLetters?: number
  values: { query: string; columns: readonly string[]; rows: readonly string[] }
}

export function askSql(
  { driver, url }: { driver: Driver; url: string },
  query: string,
  params: (string | number | boolean | null)[] = [],
  signal = new AbortController().signal,
  more: { silenceMs?: number } = {},
): Promise<SqlRows> {
  const addressOf = async (host: string) => host
  return openSqlRows({ connection: 'x', query, params }, { driver, url }, { signal, addressOf, ...more })
}

export async function textsOf(rows: SqlRows): Promise<string[]> {
  const texts: string[] = []
  try {
    for await (const { text } of rows.pages())
      texts.push(typeof text === 'string' ? text : text.bytes.toString('utf8', 0, text.length))
  } finally {
    await rows.close()
  }
  return texts
}

async function recordsOf(rows: SqlRows): Promise<Record<string, unknown>[]> {
  return (await textsOf(rows)).flatMap((text) => (JSON.parse(text) as { data: [] }).data)
}

/** What every driver of SQL sources promises. */
export function sqlContract(name: string, kit: SqlKit): void {
  const { driver, sign } = kit

  describe(`SQL sources on ${name}`, () => {
    test('a query that does anything but read is refused, and changes nothing', async () => {
      const { url, state } = await kit.open()
      const before = await state()
      for (const query of kit.hostile) {
        const outcome = await askSql({ driver, url }, query)
          .then(textsOf)
          .catch((error: unknown) => error)
        expect(isAppError(outcome) ? outcome.kind.code : outcome, query).toBe('QUERY_FAILED')
        expect(isAppError(outcome) && outcome.retryable, query).toBe(false)
      }
      expect(await state()).toBe(before)
    })

    test('a statement that is no query is refused in the same words everywhere, with its first word', async () => {
      const { url } = await kit.open()
      for (const query of NOT_READING) {
        if (kit.reads?.includes(query)) continue
        const [, word = ''] = /([a-z]+)[^a-z]/i.exec(`${query.replace(/^\/\*.*\*\/|^--.*/, '')} `) ?? []
        await expect(askSql({ driver, url }, query).then(textsOf), query).rejects.toMatchObject({
          code: 'QUERY_FAILED',
          retryable: false,
          message: `an export takes one statement that only reads, such as a SELECT; this one begins with ${word}`,
        })
      }
      for (const query of ['  ', '-- nothing'])
        await expect(askSql({ driver, url }, query).then(textsOf), query).rejects.toMatchObject({
          code: 'QUERY_FAILED',
          retryable: false,
          message: 'an export takes one statement that only reads, such as a SELECT; this one is empty',
        })
      const two = askSql({ driver, url }, 'select 1 as n; select 2 as n').then(textsOf)
      await expect(two).rejects.toThrow('an export takes one statement, and another one follows it')
      for (const query of [
        '/* a */ (select 1 as n)',
        '-- a\nselect 1 as n;',
        'with a as (select 1 as n) select n from a',
      ])
        if (driver !== 'sqlite' || !query.includes('('))
          expect(await recordsOf(await askSql({ driver, url }, query)), query).toEqual([{ n: 1 }])
    })

    test('a user, a password or a database that the server does not know is named, and tried once', async () => {
      const { url } = await kit.open()
      const { client, ask } = await startExports()
      for (const [at, reason] of (await kit.refused?.(url)) ?? []) {
        const refusal = {
          code: 'CONNECTION_REFUSED',
          retryable: false,
          message: expect.stringMatching(reason),
        }
        await expect(askSql({ driver, url: at }, 'select 1 as n')).rejects.toMatchObject(refusal)
        const body = { driver, url: at, projects: [client.project.id] }
        await ask('PUT', '/api/connections/closed', { key: ADMIN_TOKEN, body })
        const source = { kind: 'sql', connection: 'closed', query: 'select 1 as n' }
        const view = await client.ended((await client.start({ source })).task_id)
        expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'CONNECTION_REFUSED' } })
        expect(view.error?.message).toMatch(reason)
        const tested = await problemOf(ask('POST', '/api/connections/closed/test', { key: ADMIN_TOKEN }))
        expect(tested).toMatchObject({ code: 'CONNECTION_REFUSED' })
      }
    })

    test('[sql-size] large rows come in pages of a few, and one that is too large is refused', async () => {
      const { url } = await kit.open()
      const found = await askSql({ driver, url }, kit.wide(1_000_000, 40))
      const sizes: number[] = []
      let rows = 0
      for await (const page of found.pages()) {
        sizes.push(page.text.length)
        rows += page.rows
      }
      await found.close()
      expect(rows).toBe(40)
      expect(Math.max(...sizes)).toBeLessThan(2_100_000)
      if (kit.mostLetters !== undefined) return
      const vast = askSql({ driver, url }, kit.wide(70_000_000, 3)).then(textsOf)
      await expect(vast).rejects.toMatchObject({ kind: { code: 'SOURCE_PAGE_TOO_LARGE' }, retryable: false })
    })

    test('[sql-time] a query that sends nothing is ended by the clock of Wharf, whatever it does to its session', async () => {
      const { url, running } = await kit.open()
      const found = askSql({ driver, url }, kit.slow, [], undefined, { silenceMs: 300 }).then(textsOf)
      await expect(found).rejects.toThrow('the query sent no row for 0.3 seconds')
      await until('the database has ended it', async () => (await running()) === 0)
    })

    test('values keep their digits, zones and types', async () => {
      const { url } = await kit.open()
      const { query, columns, rows } = kit.values
      const found = await askSql({ driver, url }, query)
      expect(found.columns.map(({ name, type }) => `${name} ${type}`)).toEqual(columns)
      expect(await textsOf(found)).toEqual([`{"data":[${rows.join()}]}`])
    })

    test('a query with more or fewer placeholders than params is refused in the same words, once', async () => {
      const { url } = await kit.open()
      const query = `select id from orders where id > ${sign(1)} and id < ${sign(2)} and 'what?' <> '$9 :x'`
      for (const params of [[], [1], [1, 5, 9]]) {
        const asked = askSql({ driver, url }, query, params).then(textsOf)
        await expect(asked, String(params)).rejects.toMatchObject({
          code: 'QUERY_FAILED',
          retryable: false,
          message: `the query has 2 placeholders, and there ${['are 0 params', 'is 1 param', '', 'are 3 params'][params.length]}`,
        })
      }
      const none = askSql({ driver, url }, 'select id from orders where id < 1', [1]).then(textsOf)
      await expect(none).rejects.toThrow('the query has 0 placeholders, and there is 1 param')
      expect(await recordsOf(await askSql({ driver, url }, query, [1, 4]))).toHaveLength(2)
    })

    test('parameters are bound and never spliced', async () => {
      const { url } = await kit.open()
      const count = `select count(*) as n from orders where note = ${sign(1)}`
      expect(await recordsOf(await askSql({ driver, url }, count, ["' or '1' = '1"]))).toEqual([{ n: 0 }])
      const both = `select id from orders where id > ${sign(1)} and ok = ${sign(2)} order by id limit 1`
      expect(await recordsOf(await askSql({ driver, url }, both, [10, true]))).toEqual([{ id: 12 }])
      const few = await askSql({ driver, url }, count, []).then(textsOf, (error: unknown) => error)
      expect(driver === 'sqlite' || isAppError(few)).toBe(true)
      await expect(askSql({ driver, url }, count, ['a', 'b'])).rejects.toMatchObject({
        kind: { code: 'QUERY_FAILED' },
      })
    })

    test('all rows come, in order, and all are of one moment', async () => {
      const { url, run } = await kit.open()
      const all = await askSql(
        { driver, url },
        'select a.id * 1000 + b.id as n from orders a cross join orders b where a.id < 25 order by n',
      )
      await run('delete from orders where id > 10')
      const numbers = (await recordsOf(all)).map(({ n }) => n)
      expect(numbers).toEqual(Array.from({ length: 25_000 }, (_, n) => n))
      const none = await askSql({ driver, url }, 'select id from orders where id > 10')
      expect(none.columns).toEqual([{ name: 'id', type: 'integer' }])
      expect(await textsOf(none)).toEqual([])
    })

    test('a query that nobody wants any more ends in the database too', async () => {
      const { url, running } = await kit.open()
      const stop = new AbortController()
      const slow = askSql({ driver, url }, kit.slow, [], stop.signal)
      slow.catch(() => undefined)
      await until('the query runs', async () => (await running()) > 0)
      stop.abort(new Error('cancelled'))
      await expect(slow).rejects.toThrow('cancelled')
      await until('the query has ended', async () => (await running()) === 0)
      const long = await askSql(
        { driver, url },
        'select a.* from orders a cross join orders b cross join orders c',
      )
      for await (const { rows } of long.pages()) {
        expect(rows).toBeGreaterThan(0)
        break
      }
      await long.close()
      await until('the query has ended', async () => (await running()) === 0)
      await expect(askSql({ driver, url }, 'select 1 as n', [], stop.signal)).rejects.toThrow('cancelled')
    })

    test('errors are clear', async () => {
      const { url } = await kit.open()
      await expect(askSql({ driver, url }, 'select 1 as a, 2 as a')).rejects.toThrow(
        /two columns are named "a"/,
      )
      await expect(askSql({ driver, url }, 'select a from nowhere')).rejects.toMatchObject({
        kind: { code: 'QUERY_FAILED' },
        message: expect.stringMatching(/nowhere/),
      })
    })

    test('a query is exported without a server', async () => {
      const { url } = await kit.open()
      const made = await exportToFolder({
        source: { url: '', headers: {} },
        sql: {
          driver,
          url,
          query: `select id, note from orders where id < ${sign(1)} order by id`,
          params: ['2'],
        },
        wishes: { type: 'jsonl' },
        directory: temporaryFolder(),
        excel: { maxRows: 1, maxBytes: 1 },
        signal: new AbortController().signal,
        onProgress: () => undefined,
        onWarning: (text) => expect.unreachable(text),
      })
      expect(readFileSync(made.path, 'utf8').split('\n')[0]).toBe('{"id":0,"note":null}')
    })

    test('an export reads a connection that its project was granted, and never shows its address', async () => {
      const { url } = await kit.open()
      const { client, ask } = await startExports()
      const admin = { key: ADMIN_TOKEN }
      const query = `select id, note from orders where id < ${sign(1)} order by id`
      const source = { kind: 'sql', connection: 'shop', query, params: [3] }
      const put = (projects: string[], at = url) =>
        ask('PUT', '/api/connections/shop', { ...admin, body: { driver, url: at, projects } })
      expect(await problemOf(put([], 'nonsense'))).toMatchObject({ status: 400, code: 'REQUEST_INVALID' })
      expect(await (await put([])).text()).not.toContain(url)
      expect(await problemOf(client.post({ source }))).toMatchObject({ code: 'CONNECTION_NOT_FOUND' })
      await put([client.project.id])
      expect(await (await ask('POST', '/api/connections/shop/test', admin)).json()).toEqual({ ok: true })
      for (const type of ['csv', 'excel', 'jsonl', 'parquet']) {
        const made = await client.run({ source, type })
        expect(made, type).toMatchObject({ status: 'succeeded', file: { rows: 3 } })
      }
      const asked = { key: client.project.key, body: { source } }
      expect(await (await ask('POST', '/api/exports/preview', asked)).json()).toMatchObject({
        tables: [{ total: null, rows: { length: 3 } }],
      })
      const bad = await client.ended(
        (await client.start({ source: { ...source, query: 'select nothing' } })).task_id,
      )
      expect(bad).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'QUERY_FAILED' } })
      expect((await ask('DELETE', '/api/connections/shop', admin)).status).toBe(204)
    })
  })
}
