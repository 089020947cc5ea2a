import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyFiles } from '../../../src/exports/index.ts'
import { lookAtFile } from '../../../src/exports/report/file-check.ts'
import { type FileReport, ManifestSigner, manifestText } from '../../../src/exports/report/index.ts'
import { canonicalJson, isGenuine } from '../../../src/exports/report/manifest.ts'
import { newKey } from '../../../src/exports/report/open-signer.ts'
import { runWharf, temporaryFolder } from '../../support/wharf-process.ts'

const TEXT = '\ufeff"id","name"\r\n1,"two\nlines"\r\n2,"say ""no"""\r\n'

async function setup() {
  const folder = temporaryFolder()
  const path = join(folder, 'orders.csv')
  writeFileSync(path, TEXT)
  const { size, sha256 } = await lookAtFile(path)
  const part = { name: 'orders.csv', rows: 2, size, sha256 }
  const report: FileReport = {
    file: { ...part, parts: 1, content_type: 'text/csv; charset=utf-8' },
    rows: { asked: 2, written: 2 },
    tables: [
      {
        name: 'Sheet1',
        asked: 2,
        written: 2,
        columns: [],
        left_out: [],
        duplicates: { same_pages: 0, key: null, repeated_keys: null },
        drift: null,
      },
    ],
    parts: [part],
    warnings: [],
  }
  const signer = new ManifestSigner(newKey())
  const keep = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const manifest = keep('manifest.json', manifestText(report, signer))
  const keys = keep('keys.json', JSON.stringify(signer.publicKeys))
  return { path, report, signer, keep, manifest, keys }
}

const bad = async (found: ReturnType<typeof verifyFiles>) => (await found).filter(({ good }) => !good)

describe('a file and its manifest', () => {
  test('of which nobody signed the manifest are said to be unproved', async () => {
    const { path, report, keep, keys } = await setup()
    const manifest = keep('unsigned.json', manifestText(report))
    const unsigned = { what: 'signature', message: expect.stringMatching(/^not signed/) }
    expect((await verifyFiles([path], { manifest }))[0]).toMatchObject({
      ...unsigned,
      good: true,
      unproved: true,
    })
    expect((await verifyFiles([path], { manifest, keys }))[0]).toMatchObject({ ...unsigned, good: false })
    const { exited, output } = runWharf(['verify', path, '--manifest', manifest])
    expect(await exited).toMatchObject({ code: 0 })
    expect(output.out).toContain('! signature: not signed')
  })

  test('match, also under another name, and with a key that is known', async () => {
    const { path, keep, manifest, keys } = await setup()
    const found = await verifyFiles([path, keep('copy.csv', TEXT)], { manifest, keys })
    expect(found.map(({ good }) => good)).toEqual([true, true, true])
    expect(found[0]?.message).toContain('which is among the given keys')
    expect(found[1]).toMatchObject({ what: 'orders.csv', message: '2 rows, 47 bytes, SHA-256 matches' })
    expect(found[2]?.message).toContain('there named orders.csv')
    expect((await verifyFiles([path], { manifest }))[0]?.message).toContain(
      'whose key that is was not checked',
    )
  })

  test('do not match when the file was changed, and rows that are missing are told', async () => {
    const { path, keep, manifest } = await setup()
    writeFileSync(path, TEXT.replace(/2,.*\r\n$/, ''))
    const [finding] = await bad(verifyFiles([path, keep('other.csv', 'x')], { manifest }))
    expect(finding?.message).toMatch(/^was changed: 31 bytes in place of 47, 1 row in place of 2, SHA-256 /)
    expect((await bad(verifyFiles([keep('other.csv', 'x')], { manifest })))[0]?.message).toContain(
      'not in the manifest',
    )
  })

  test('do not match when the manifest was changed, or signed by somebody else', async () => {
    const { path, report, keep, keys } = await setup()
    const signer = new ManifestSigner(newKey())
    const foreign = keep('foreign.json', manifestText(report, signer))
    expect(await bad(verifyFiles([path], { manifest: foreign, keys }))).toMatchObject([
      { what: 'signature', message: expect.stringContaining('not among the given keys') },
    ])
    const changed = JSON.parse(manifestText(report, signer))
    changed.file.rows = changed.parts[0].rows = 3
    const found = await bad(verifyFiles([path], { manifest: keep('changed.json', JSON.stringify(changed)) }))
    expect(found).toMatchObject([
      { what: 'signature', message: expect.stringContaining('was changed after it was signed') },
      { what: 'rows', message: 'the parts have 3, the manifest says 2' },
      { what: 'orders.csv', message: 'has 2 rows, the manifest says 3' },
    ])
  })

  test('an unsigned manifest is good only where no key is asked for', async () => {
    const { path, report, keep, keys } = await setup()
    const manifest = keep('unsigned.json', manifestText({ parts: report.parts }))
    expect(await bad(verifyFiles([path], { manifest }))).toEqual([])
    expect(await bad(verifyFiles([path], { manifest, keys }))).toMatchObject([{ what: 'signature' }])
  })

  test('what is no manifest, no key and no file is said to be none', async () => {
    const { path, keep, manifest } = await setup()
    const list = keep('list.json', '[]')
    await expect(verifyFiles([path], { manifest: list })).rejects.toThrow('is not a manifest')
    await expect(verifyFiles([path], { manifest, keys: list })).rejects.toThrow('has no keys')
    await expect(verifyFiles([`${path}x`], { manifest })).rejects.toThrow('cannot read')
  })
})

test('UTF-16 is counted by its characters', async () => {
  const path = join(temporaryFolder(), 'wide.csv')
  // The second and third characters have the bytes of a quote and of a line feed in them.
  writeFileSync(path, Buffer.from('\ufeff"∀ഢ਀","b"\r\n1,2\r\n', 'utf16le'))
  expect((await lookAtFile(path, { width: 2 })).records).toBe(2)
})

test('a manifest means the same in whatever order its members come', () => {
  const signer = new ManifestSigner(newKey())
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: 1.5 })).toBe('{"a":1.5,"b":[1,{"c":"x","d":null}]}')
  const { signature, ...rest } = signer.sign({ b: 1, a: { y: 2, x: '文' } })
  expect(isGenuine({ a: { x: '文', y: 2 }, b: 1, signature } as never)).toBe(true)
  expect(isGenuine({ ...rest, b: 2, signature } as never)).toBe(false)
  expect(isGenuine({ ...rest, signature: { ...signature, public_key: 'AAAA' } } as never)).toBe(false)
})
