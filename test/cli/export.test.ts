import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { readWorkbooks } from '../exports/xlsx/foreign-reader.ts'
import { pagesOf, type SourcePage, startSource } from '../support/source-server.ts'
import { until } from '../support/until.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

const row = (n: number) => ({ id: n, name: `row ${n}` })

async function setup(answer: (page: SourcePage) => unknown) {
  const url = `${await startSource(answer)}/orders`
  const folder = temporaryFolder()
  const run = (file: string, ...args: string[]) =>
    runWharf(['export', `${url}`, '-o', join(folder, file), ...args])
  const ended = async (file: string, ...args: string[]) => {
    const { exited, output } = run(file, ...args)
    return { ...(await exited), ...output }
  }
  return { url, folder, run, ended, read: (file: string) => readFileSync(join(folder, file), 'utf8') }
}

describe('wharf export', () => {
  test('writes a CSV file and tells of it, leaving nothing else behind', async () => {
    const { folder, ended, read } = await setup(pagesOf(1234, row))
    const { code, out, err } = await ended('orders.csv')
    expect({ code, out }).toEqual({
      code: 0,
      out: `${join(folder, 'orders.csv')}: 1234 rows, ${Buffer.byteLength(read('orders.csv'))} bytes\n`,
    })
    expect(err).toContain('fetching: 1234 of 1234 rows, 100 %\n')
    const lines = read('orders.csv').split('\r\n')
    expect(lines.slice(0, 2)).toEqual(['\ufeff"id","name"', '0,"row 0"'])
    expect(lines.at(-2)).toBe('1233,"row 1233"')
    expect(readdirSync(folder)).toEqual(['orders.csv'])
    expect((await ended('again.csv', '--page-size', '100')).err).not.toContain('going on')
  })

  test('replaces an older file, without a byte order mark if so asked', async () => {
    const { folder, ended, read } = await setup(pagesOf(1, row))
    writeFileSync(join(folder, 'orders.csv'), 'old')
    expect(await ended('orders.csv', '--no-bom')).toMatchObject({ code: 0 })
    expect(read('orders.csv')).toBe('"id","name"\r\n0,"row 0"\r\n')
  })

  test('writes the dialect that was asked for', async () => {
    const { ended, read } = await setup(pagesOf(1, row))
    const dialect = ['--delimiter', 'tab', '--line-end', 'lf', '--quote', 'all', '--encoding', 'gb18030']
    expect(await ended('orders.csv', ...dialect)).toMatchObject({ code: 0 })
    expect(read('orders.csv')).toBe('"id"\t"name"\n"0"\t"row 0"\n')
  })

  test('a mask on a column that no row has is an error, and no clear value stays on disk', async () => {
    const { folder, ended, read } = await setup(pagesOf(250, row))
    const { code, err } = await ended('orders.csv', '--mask', 'nmae=name')
    expect(code).toBe(1)
    expect(err).toContain('the mask of column nmae hides nothing: no row has that column; did you mean name?')
    const left = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    expect(left.filter((file) => readFileSync(join(file.parentPath, file.name)).includes('row 1'))).toEqual(
      [],
    )
    expect(await ended('orders.csv', '--mask', 'name=name')).toMatchObject({ code: 0 })
    expect(read('orders.csv')).toContain('"r** 1**"')
    expect(await ended('orders.csv', '--mask', 'name.first=name')).toMatchObject({ code: 0 })
  })

  test('a split workbook is written as a zip, and said to be one', async () => {
    const { folder, ended } = await setup(pagesOf(250, row))
    const { code, err } = await ended('orders.xlsx', '--max-rows', '100', '--title', 'Orders')
    expect(code).toBe(0)
    expect(err).toContain('! the workbook was split into 3 parts, so it is written as orders.zip\n')
    expect(readdirSync(folder)).toEqual(['orders.zip'])
  })

  test('takes a template, headers and a secret along', async () => {
    const secret = `whsec_${Buffer.from('a secret of some length').toString('base64')}`
    const seen: string[] = []
    const { url, folder, ended, read } = await setup((page) => {
      const { headers, url: path = '' } = page.request
      new Webhook(secret).verify(new URL(path, url).href, headers as Record<string, string>, {
        jsonParse: false,
      })
      seen.push(String(headers['x-tenant']))
      return pagesOf(2, row)(page)
    })
    writeFileSync(join(folder, 'template.json'), '{"name": "Name", "10": "Ten", "2": "Two"}')
    const args = [
      '--template',
      join(folder, 'template.json'),
      '--header',
      'X-Tenant: north',
      '--secret',
      secret,
    ]
    expect(await ended('orders.csv', '--no-bom', ...args)).toMatchObject({ code: 0 })
    expect(read('orders.csv')).toBe('"Name","Ten","Two"\r\n"row 0",,\r\n"row 1",,\r\n')
    expect(new Set(seen)).toEqual(new Set(['north']))
  })

  test('writes several tables with an area above and below, out of files', async () => {
    const { folder, url } = await setup(pagesOf(2, row))
    const file = (name: string, value: unknown) => {
      writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
      return join(folder, name)
    }
    const sheets = [
      { name: 'North', source_url: url },
      { name: 'South', source_url: `${url}?south`, title: 'South', template: { id: 'No.' } },
    ]
    const run = (...args: string[]) => runWharf(['export', '-o', join(folder, 'two.xlsx'), ...args])
    const { exited, output } = run(
      '--sheets',
      file('sheets.json', sheets),
      '--sheet-header',
      file('header.json', '{"Region":"all","PO":4500000000123456789}'),
      '--sheet-footer',
      file('footer.json', '"Thank you"'),
    )
    expect({ ...(await exited), err: output.err }).toMatchObject({ code: 0 })
    const [book = []] = await readWorkbooks([join(folder, 'two.xlsx')])
    expect(book.map(({ name }) => name)).toEqual(['North', 'South'])
    const cells = Object.values(book[1]?.cells ?? {}).map(({ value }) => value)
    for (const text of ['South', 'Region: all', 'PO: 4500000000123456789', 'No.', 'Thank you'])
      expect(cells).toContain(text)
    const wrong = run('--sheets', file('sheets.json', [{ name: 'a', url }]))
    expect(await wrong.exited).toMatchObject({ code: 1 })
    expect(wrong.output.err).toContain('sheets.0.url is unknown; there are name, source_url')
  })

  test('a run that was broken off goes on with the same command', async () => {
    const asked: number[] = []
    const reached = Promise.withResolvers<void>()
    let broken = true
    const { folder, run, ended, read } = await setup((page) => {
      if (page.pageSize > 1) asked.push(page.page)
      if (page.page < 5 || !broken) return pagesOf(1_000, row)(page)
      reached.resolve()
      return undefined // never answers
    })
    const first = run('orders.csv', '--page-size', '100')
    await reached.promise
    first.child.kill('SIGINT')
    expect(await first.exited).toEqual({ code: 130, signal: null })
    expect(first.output.err).toContain('wharf: stopped; the same command goes on from here\n')
    expect(readdirSync(folder)).toEqual(['.orders.csv.wharf-part'])

    broken = false
    asked.length = 0
    const { code, err } = await ended('orders.csv', '--page-size', '100')
    expect(code).toBe(0)
    expect(err).toContain('going on after 500 rows of an earlier run\n')
    expect(asked).toEqual([5, 6, 7, 8, 9])
    expect(read('orders.csv').split('\r\n')).toHaveLength(1_002)
    expect(readdirSync(folder)).toEqual(['orders.csv'])
  })

  test('pages of another source are not taken for those of this one', async () => {
    let broken = true
    const { folder, url, ended, read } = await setup((page) => {
      if (page.page > 1 && broken) page.response.writeHead(400).end()
      else return pagesOf(300, (n) => ({ id: broken ? -n : n }))(page)
    })
    expect(await ended('orders.csv', '--page-size', '100')).toMatchObject({ code: 1 })
    expect(existsSync(join(folder, '.orders.csv.wharf-part', 'table-0'))).toBe(true)
    broken = false
    const other = runWharf(['export', `${url}?other`, '-o', join(folder, 'orders.csv'), '--page-size', '100'])
    expect(await other.exited).toMatchObject({ code: 0 })
    expect(read('orders.csv')).not.toContain('-')
  })

  test('two runs do not write the same file at once', async () => {
    let asked = false
    const { run, ended } = await setup(() => {
      asked = true
      return undefined
    })
    const first = run('orders.csv')
    await until('the first run asks for a page', () => asked)
    const { code, err } = await ended('orders.csv')
    expect(code).toBe(1)
    expect(err).toMatch(
      new RegExp(`^wharf: process ${first.child.pid} is writing .*\\(OUTPUT_UNUSABLE\\)\\n$`),
    )
  })

  test('a redirect into a private network elsewhere is refused', async () => {
    const { ended } = await setup(({ response }) => {
      response.writeHead(302, { location: 'http://10.1.2.3/orders' }).end()
    })
    const { code, err } = await ended('orders.csv')
    expect(code).toBe(1)
    expect(err).toMatch(/^wharf: .*10\.1\.2\.3.*\(ADDRESS_REFUSED\)\n$/)
  })

  test.each([
    ['orders', [], /does not say what to write.*--type.*\(REQUEST_INVALID\)/],
    ['missing/orders.csv', [], /there is no folder .*missing \(OUTPUT_UNUSABLE\)/],
    ['folder.csv', [], /folder\.csv is a folder \(OUTPUT_UNUSABLE\)/],
    ['orders.csv', ['--template', 'missing.json'], /cannot read missing.json.*\(TEMPLATE_INVALID\)/],
    ['orders.csv', ['--template', 'latin1.json'], /latin1.json: it is not UTF-8 \(TEMPLATE_INVALID\)/],
    ['orders.csv', ['--source', 'latin1.json'], /latin1.json: it is not UTF-8 \(REQUEST_INVALID\)/],
    ['orders.csv', ['--secret', 'whsec_?'], /the secret is invalid.*\(REQUEST_INVALID\)/],
    ['orders.csv', ['--timezone', 'Mars/Olympus'], /timezone.*Mars\/Olympus.*\(REQUEST_INVALID\)/],
  ])('a mistake gives one line with its code: %s %j', async (file, args, message) => {
    const { folder, ended } = await setup(pagesOf(1, row))
    mkdirSync(join(folder, 'folder.csv'))
    writeFileSync(join(folder, 'latin1.json'), Buffer.from('{"a":"M\u00fcller"}', 'latin1'))
    const { code, err } = await ended(
      file,
      ...args.map((arg) => (arg === 'latin1.json' ? join(folder, arg) : arg)),
    )
    expect(code).toBe(1)
    expect(err).toMatch(new RegExp(`^wharf: .*${message.source}\\n$`))
    expect(readdirSync(folder)).toEqual(['folder.csv', 'latin1.json'])
  })

  test('--help tells of resuming and of the exit codes', async () => {
    const { exited, output } = runWharf(['export', '--help'])
    expect(await exited).toMatchObject({ code: 0 })
    expect(output.out).toMatch(/--page-size[\s\S]*goes on from\s+there[\s\S]*130 after Ctrl-C/)
  })

  test('writes rows of a database, whose address says which kind it is', async () => {
    const folder = temporaryFolder()
    const database = new DatabaseSync(join(folder, 'shop.db'))
    database.exec("create table orders (id integer, name text); insert into orders values (1, 'a'), (2, 'b')")
    database.close()
    const ask = async (connection: string) => {
      const query = ['--sql', 'select * from orders where id > ?', '--param', '1', '--connection', connection]
      const { exited, output } = runWharf(['export', ...query, '-o', join(folder, 'orders.csv'), '--no-bom'])
      return { ...(await exited), ...output }
    }
    expect(await ask(join(folder, 'shop.db'))).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'orders.csv'), 'utf8')).toBe('"id","name"\r\n2,"b"\r\n')
    expect(await ask('oracle://somewhere/x')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'oracle:// is not known; use postgres://, mysql:// or the path of an SQLite file',
      ),
    })
  })
})
