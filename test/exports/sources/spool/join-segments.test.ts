import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { joinSegments } from '../../../../src/exports/sources/index.ts'
import { ERRORS, isAppError } from '../../../../src/kernel/index.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-join-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let files = 0

  function segment(text: string) {
    const path = join(folder, `${files++}.source.csv`)
    writeFileSync(path, text)
    return { path, bytes: Buffer.byteLength(text) }
  }

  async function joined(segments: { path: string; bytes: number }[], signal = new AbortController().signal) {
    return readFileSync(await joinSegments(segments, signal), 'utf8')
  }

  return { segment, joined }
}

describe('the segments of a CSV spool', () => {
  test('follow one another in the first, whatever their sizes, and are gone afterwards', async () => {
    const { segment, joined } = setup()
    const texts = ['a\r\n', '', 'é'.repeat(1_500_000), 'b\r\n', '0123456789'.repeat(250_000), 'last\r\n']
    const segments = texts.map(segment)
    expect((await joined(segments)) === texts.join('')).toBe(true)
    expect(segments.filter(({ path, bytes }) => bytes > 0 && existsSync(path))).toHaveLength(1)
    // Again, as after a crash: nothing is appended twice.
    expect((await joined(segments)) === texts.join('')).toBe(true)
  })

  test('count up to the bytes that are known to be good', async () => {
    const { segment, joined } = setup()
    const first = { ...segment('good\r\nleft by a crash'), bytes: 6 }
    expect(await joined([first, segment('next\r\n')])).toBe('good\r\nnext\r\n')
    const second = { ...segment('good\r\nleft by a crash'), bytes: 6 }
    expect(await joined([segment('first\r\n'), second])).toBe('first\r\ngood\r\n')
  })

  test('are refused when one is shorter than it should be, or missing', async () => {
    const { segment, joined } = setup()
    const cut = { ...segment('x'.repeat(100)), bytes: 101 }
    const missing = { path: join(tmpdir(), 'wharf-no-such-segment'), bytes: 1 }
    for (const other of [cut, missing]) {
      const error = await joined([segment('y'), other]).catch((reason: unknown) => reason)
      expect(isAppError(error, ERRORS.SPOOL_DAMAGED)).toBe(true)
    }
  })

  test('are left alone when the export has been stopped', async () => {
    const { segment, joined } = setup()
    const other = segment('b')
    await expect(joined([segment('a'), other], AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    )
    expect(existsSync(other.path)).toBe(true)
  })
})
