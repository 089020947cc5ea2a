import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeCsv } from '../../../src/exports/csv/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-csv-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let files = 0

  function segment(text: string) {
    const path = join(folder, `${files++}.source.csv`)
    writeFileSync(path, text)
    return { path, bytes: Buffer.byteLength(text) }
  }

  async function write(segments: { path: string; bytes: number }[], signal = new AbortController().signal) {
    const path = join(folder, 'file.csv')
    await writeCsv({ head: Buffer.from('head\r\n'), segments, path, signal })
    return readFileSync(path, 'utf8')
  }

  return { segment, write }
}

describe('the segments of a CSV spool', () => {
  test('follow the head in their order, whatever their sizes', async () => {
    const { segment, write } = setup()
    const texts = ['a\r\n', '', 'é'.repeat(1_500_000), 'b\r\n', '0123456789'.repeat(250_000), 'last\r\n']
    expect((await write(texts.map(segment))) === `head\r\n${texts.join('')}`).toBe(true)
    expect(await write([])).toBe('head\r\n')
  })

  test('count up to the bytes that are known to be good', async () => {
    const { segment, write } = setup()
    const longer = { ...segment('good\r\nleft by a crash'), bytes: 6 }
    expect(await write([longer, segment('next\r\n')])).toBe('head\r\ngood\r\nnext\r\n')
  })

  test('are refused when one is shorter than it should be', async () => {
    const { segment, write } = setup()
    const cut = { ...segment('x'.repeat(100)), bytes: 101 }
    const error = await write([cut, segment('y')]).catch((reason: unknown) => reason)
    expect(isAppError(error, ERRORS.SPOOL_DAMAGED)).toBe(true)
  })

  test('are left alone when the export has been stopped', async () => {
    const { segment, write } = setup()
    await expect(write([segment('a')], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})
