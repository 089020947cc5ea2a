import { spawnSync } from 'node:child_process'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { zipFiles } from '../../../src/exports/xlsx/index.ts'
import { centralHeader, endOfDirectory, localHeader } from '../../../src/exports/xlsx/zip/zip-record.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'

const READ = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[e.filename, e.file_size, e.header_offset, e.extract_version, archive.read(e).decode()] for e in archive.infolist()]))
`

type Seen = [name: string, size: number, offset: number, version: number, text: string]

function readByPython(path: string): Seen[] {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', READ, path], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

/** Debian has it on most machines; Python reads every archive of these tests anyway. */
function testByUnzip(path: string): void {
  const { status, error, stdout } = spawnSync('unzip', ['-t', path], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
  })
  if (error) return
  expect(stdout).toContain('No errors detected')
  expect(status).toBe(0)
}

test('entries, offsets and directories beyond the limit of 32 bits are read by other programs', async () => {
  const folder = temporaryFolder()
  const texts = ['small', 'x'.repeat(300), 'last']
  const paths = texts.map((_, n) => join(folder, `表-${n}.txt`))
  for (const [n, path] of paths.entries()) await writeFile(path, texts[n]!)
  const target = join(folder, 'parts.zip')
  // As if 32 bits ended at 200: the second entry is too large, the third stands too far back, and so does the directory.
  await zipFiles(paths, target, new AbortController().signal, { limit: 200 })
  const seen = readByPython(target)
  expect(seen.map(([name, , , , text]) => [name, text])).toEqual(
    texts.map((text, n) => [`表-${n}.txt`, text]),
  )
  expect(seen.map(([, , , version]) => version)).toEqual([20, 45, 45])
  testByUnzip(target)
  // With the limit where it belongs, nothing of zip64 is in a small archive.
  await zipFiles(paths, target, new AbortController().signal)
  expect(readByPython(target).map(([, , , version]) => version)).toEqual([20, 20, 20])
  expect((await readFile(target)).includes(Buffer.from('PK\x06\x06'))).toBe(false)
  testByUnzip(target)
})

test('an entry that stands 5 GiB into an archive is found there', async () => {
  const path = join(temporaryFolder(), 'sparse.zip')
  const offset = 5 * 2 ** 30
  const text = Buffer.from('far away')
  const sums = {
    crc: crc32(text),
    compressed: text.length,
    size: text.length,
    large: false,
    method: 0 as const,
  }
  const [near, far] = [
    { name: 'near', offset: 0, ...sums },
    { name: 'far', offset, ...sums },
  ]
  const headers = [near, far].map((entry) => centralHeader(entry))
  // Nothing but holes between the two: the file takes a few blocks.
  const file = await open(path, 'w')
  await file.write(Buffer.concat([localHeader(near), text]), 0, undefined, 0)
  const rest = Buffer.concat([localHeader(far), text])
  const directory = { entries: 2, bytes: Buffer.concat(headers).length, offset: offset + rest.length }
  await file.write(Buffer.concat([rest, ...headers, endOfDirectory(directory)]), 0, undefined, offset)
  await file.close()
  expect(readByPython(path)).toEqual([
    ['near', 8, 0, 20, 'far away'],
    ['far', 8, offset, 45, 'far away'],
  ])
})
