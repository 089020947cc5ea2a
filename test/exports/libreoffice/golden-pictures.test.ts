import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { afterAll, test as base, beforeAll, expect } from 'vitest'
import { requireBinary } from '../../support/find-binary.ts'
import { setup } from '../xlsx/spool-fixture.ts'
import { GOLDEN, goldenSheet } from './golden-books.ts'
import { Office, SOFFICE } from './office.ts'

const PDFTOPPM = requireBinary('pdftoppm')
const FOLDER = 'docs/images/workbooks'
/** LibreOffice draws with these alone, whatever else the machine has: one for Latin letters, one for Chinese. */
const FONTS = [
  '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf',
  '/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf',
]
/** Pictures are compared where LibreOffice and the fonts are those that they were made with. */
const MADE_WITH = join(FOLDER, 'made-with.txt')
/** Pixels that may differ by more than a shade. */
const TOLERANCE = 0.002

const test = base.runIf(
  SOFFICE !== undefined && PDFTOPPM !== undefined && FONTS.every((font) => existsSync(font)),
)
const pictures = new Map<string, string>()
const bench = setup()
const office = new Office({ fonts: FONTS })
let here = ''
afterAll(async () => {
  office.close()
  await bench.close()
})

/** One start of LibreOffice for all of them: it is what takes the time. */
beforeAll(async () => {
  if (SOFFICE === undefined || PDFTOPPM === undefined) return
  here = environment()
  const books: string[] = []
  for (const [name, golden] of Object.entries(GOLDEN)) {
    const { files } = await bench.write({ sheets: [goldenSheet(golden, bench)] })
    const path = join(dirname(files[0]!.path), `${name}.xlsx`)
    renameSync(files[0]!.path, path)
    books.push(path)
  }
  for (const pdf of await office.pdfs(books)) {
    const stem = pdf.replace(/\.pdf$/, '')
    execFileSync(PDFTOPPM, ['-png', '-r', '60', '-f', '1', '-l', '1', '-singlefile', pdf, stem])
    pictures.set(basename(stem), `${stem}.png`)
  }
})

test('at least twelve workbooks are drawn', () => {
  expect(pictures.size).toBeGreaterThanOrEqual(12)
})

test.for(Object.keys(GOLDEN))('%s looks as it did', (name, { skip }) => {
  const kept = join(FOLDER, `${name}.png`)
  if (process.env.WHARF_NEW_PICTURES === '1') {
    copyFileSync(pictures.get(name)!, kept)
    writeFileSync(MADE_WITH, here)
  }
  expect(existsSync(kept)).toBe(true)
  skip(
    readFileSync(MADE_WITH, 'utf8') !== here,
    'other fonts or another LibreOffice than the pictures were made with',
  )
  const [was, is] = [readPng(kept), readPng(pictures.get(name)!)]
  expect([is.width, is.height]).toEqual([was.width, was.height])
  let differing = 0
  for (let n = 0; n < was.pixels.length; n += 1) {
    if (Math.abs(was.pixels[n]! - is.pixels[n]!) > 48) differing += 1
  }
  expect(differing / was.pixels.length).toBeLessThan(TOLERANCE)
})

function environment(): string {
  const version = execFileSync(SOFFICE!, ['--version'], { encoding: 'utf8' }).trim()
  const fonts = FONTS.map((font) => `${basename(font)} ${digest(font)}`)
  return `${[version, ...fonts].join('\n')}\n`
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)
}

/** Bytes of a picture with three colours of 8 bits, as pdftoppm writes it. */
function readPng(path: string): { width: number; height: number; pixels: Uint8Array } {
  const file = readFileSync(path)
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  expect([file[24], file[25], file[28]]).toEqual([8, 2, 0])
  const data: Buffer[] = []
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
  }
  const raw = inflateSync(Buffer.concat(data))
  const line = width * 3
  const pixels = new Uint8Array(line * height)
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (line + 1)]!
    for (let x = 0; x < line; x += 1) {
      const at = y * line + x
      const left = x >= 3 ? pixels[at - 3]! : 0
      const up = y > 0 ? pixels[at - line]! : 0
      const corner = x >= 3 && y > 0 ? pixels[at - line - 3]! : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      pixels[at] = raw[y * (line + 1) + 1 + x]! + guess
    }
  }
  return { width, height, pixels }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}
