import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CsvSegment, CsvWriter, writeCsv } from '../../../src/exports/csv/index.ts'
import { parseTemplate, type Template, templateFromKeys } from '../../../src/exports/template/index.ts'
import { ThreadPool } from '../../../src/exports/threads/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-csv-'))
  const pool = new ThreadPool({ threads: 2 })
  onTestFinished(async () => {
    await pool.close()
    rmSync(folder, { recursive: true })
  })
  let files = 0

  function segment(
    records: string[],
    { group, perSlice = 1_000 }: { group?: string; perSlice?: number } = {},
  ) {
    const path = join(folder, `${files++}.source.csv`)
    writeFileSync(path, records.join(''))
    const slices: CsvSegment['slices'] = []
    for (let at = 0, offset = 0; at < records.length; at += perSlice) {
      const bytes = Buffer.byteLength(records.slice(at, at + perSlice).join(''))
      slices.push({ offset, bytes })
      offset += bytes
    }
    return { path, slices, ...(group !== undefined && { group }) }
  }

  async function write(template: Template, segments: CsvSegment[], signal = new AbortController().signal) {
    const path = join(folder, 'file.csv')
    const rows = await writeCsv({ pool }, { template, segments, path, bom: true, signal })
    return { rows, text: readFileSync(path, 'utf8') }
  }

  return { segment, write }
}

/** What one thread makes of it, without slices. */
async function whole(template: Template, segments: CsvSegment[]): Promise<string> {
  const parts = segments.map(({ path, group }) => ({
    spool: [readFileSync(path)],
    ...(group !== undefined && { row: group }),
  }))
  const written: Uint8Array[] = []
  for await (const bytes of new CsvWriter(template).write(parts)) written.push(bytes)
  return Buffer.concat(written).toString()
}

describe('a CSV file of many slices', () => {
  test('is the one that a single pass makes', async () => {
    const { segment, write } = setup()
    const template = parseTemplate([{ name: 'b' }, { name: 'a' }, { name: 'b', title: 'Again' }])!
    const records = (from: number) =>
      Array.from({ length: 7_000 }, (_, n) => `"=text, ""${from + n}""\n",${n % 3 === 0 ? 'null' : n / 8}\n`)
    const segments = [segment(records(0)), segment([]), segment(records(7_000), { perSlice: 333 })]
    const { rows, text } = await write(template, segments)
    expect(rows).toBe(14_000)
    expect(text === (await whole(template, segments))).toBe(true)
  })

  test('keeps the labels of each row header before its records', async () => {
    const { segment, write } = setup()
    const template = parseTemplate({
      ceil: [{ name: 'v' }, { name: '__row__', title: 'Area' }],
      row: [
        { name: 'n', title: `North ${'·'.repeat(300)}` },
        { name: 's', title: 'South' },
      ],
    })!
    const segments = ['n', 's'].map((group) =>
      segment(
        Array.from({ length: 5_000 }, (_, n) => `${n}\n`),
        { group },
      ),
    )
    const { text } = await write(template, segments)
    expect(text === (await whole(template, segments))).toBe(true)
  })

  test('is refused when the spool does not hold what its index says', async () => {
    const { segment, write } = setup()
    const template = templateFromKeys(['a'])
    const good = segment(Array.from({ length: 5_000 }, (_, n) => `${n}\n`))
    const cut = { ...good, slices: [...good.slices, { offset: 1e6, bytes: 100 }] }
    const error = await write(template, [cut]).catch((reason: unknown) => reason)
    expect(isAppError(error, ERRORS.SPOOL_DAMAGED)).toBe(true)
    // The threads are none the worse for it.
    expect((await write(template, [good])).rows).toBe(5_000)
  })

  test('stops when it is told to', async () => {
    const { segment, write } = setup()
    const segments = [segment(Array.from({ length: 20_000 }, (_, n) => `${n}\n`))]
    await expect(
      write(templateFromKeys(['a']), segments, AbortSignal.abort(new Error('enough'))),
    ).rejects.toThrow('enough')
  })
})
