import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PartFile, Roots } from '../../../src/carriers/swarm/agent/place/index.ts'
import { makeManifest, toTargetFailure } from '../../../src/carriers/swarm/wire/index.ts'
import { smallDisk } from '../../support/small-disk.ts'

const { signal } = new AbortController()

async function setup(bytes = 1_000_000) {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-part-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'root')
  mkdirSync(root)
  const content = randomBytes(bytes)
  writeFileSync(join(folder, 'source'), content)
  const manifest = await makeManifest(join(folder, 'source'), signal)
  const roots = new Roots([root])
  const open = (directory: string, fileName = 'file', user = '') =>
    PartFile.open(roots, { task: 'task', fileName, place: { user, directory }, manifest })
  const openIn = (directory: string) =>
    PartFile.open(new Roots([directory]), {
      ...{ task: 'task', fileName: 'file', place: { user: '', directory }, manifest },
    })
  const piece = (index: number) =>
    content.subarray(index * manifest.pieceBytes, index * manifest.pieceBytes + manifest.lengthOf(index))
  return { folder, root, content, manifest, open, openIn, piece }
}

describe('a file on its way', () => {
  test('has its name only when it is whole, and nothing else lies beside it then', async () => {
    const { root, content, manifest, open, piece } = await setup()
    const part = await open(join(root, 'a', 'b'))
    for (let index = 0; index < manifest.pieces; index++) await part.append(piece(index))
    expect(existsSync(join(root, 'a/b/file'))).toBe(false)
    await expect(part.finish()).rejects.toMatchObject({ code: 206 })
    expect(await part.recheck()).toBe(true)
    await part.finish()
    await part.close()
    expect(readdirSync(join(root, 'a/b'))).toEqual(['file'])
    expect(readFileSync(join(root, 'a/b/file')).equals(content)).toBe(true)
    expect(statSync(join(root, 'a/b/file')).mode & 0o777).toBe(0o644)
  })

  test('goes on after a restart with the pieces that are still good', async () => {
    const { root, manifest, open, piece } = await setup()
    const before = await open(root)
    for (let index = 0; index < 3; index++) await before.append(piece(index))
    await before.close()
    const [name] = readdirSync(root)
    const kept = readFileSync(join(root, name!))
    kept[2 * manifest.pieceBytes + 5]! ^= 1
    writeFileSync(join(root, name!), kept)
    const after = await open(root)
    expect(after.have).toBe(2)
    for (let index = 2; index < manifest.pieces; index++) await after.append(piece(index))
    expect(await after.recheck()).toBe(true)
    await after.finish()
    await after.close()
    expect(
      createHash('sha256')
        .update(readFileSync(join(root, 'file')))
        .digest('hex'),
    ).toBe(manifest.sha256)
  })

  test('that was changed on disk while it came in has no name, and goes on from its good pieces', async () => {
    const { root, content, manifest, open, piece } = await setup()
    const part = await open(root)
    for (let index = 0; index < manifest.pieces; index++) await part.append(piece(index))
    const [name] = readdirSync(root)
    const file = openSync(join(root, name!), 'r+')
    writeSync(file, 'changed by somebody on the host', manifest.pieceBytes)
    closeSync(file)
    expect(await part.recheck()).toBe(false)
    expect(part.have).toBe(1)
    await expect(part.finish()).rejects.toMatchObject({ code: 206 })
    for (let index = 1; index < manifest.pieces; index++) await part.append(piece(index))
    expect(await part.recheck()).toBe(true)
    await part.finish()
    await part.close()
    expect(readFileSync(join(root, 'file')).equals(content)).toBe(true)
  })

  test('says what it needs and where, when the disk is full', async () => {
    const disk = smallDisk(8)
    if (disk === undefined) return
    const { manifest, piece, openIn } = await setup(12_000_000)
    const part = await openIn(disk)
    const fill = async () => {
      for (let index = 0; index < manifest.pieces; index++) await part.append(piece(index))
    }
    await expect(fill()).rejects.toMatchObject({
      code: 201,
      message: expect.stringMatching(
        `^the disk is full \\(ENOSPC\\): the file needs 11.4 MiB in ${disk}, where there is room for (7.9|8.0) MiB$`,
      ),
    })
    await part.close({ remove: true })
    expect(readdirSync(disk)).toEqual([])
  })

  test('takes no piece that the manifest does not name, and shows nothing before the last', async () => {
    const { root, open, piece } = await setup()
    const part = await open(root)
    await expect(part.append(Buffer.alloc(piece(0).length))).rejects.toMatchObject({ name: 'BadPiece' })
    await expect(part.append(piece(1))).rejects.toMatchObject({ name: 'BadPiece' })
    expect(part.have).toBe(0)
    await part.append(piece(0))
    await expect(part.finish()).rejects.toMatchObject({ code: 206 })
    await part.close({ remove: true })
    expect(readdirSync(root)).toEqual([])
  })

  test('[planted-link] is fetched where the same bytes lie under its name as another name of a file, and leaves that one alone', async () => {
    const { folder, root, content, manifest, open, piece } = await setup()
    const victim = join(folder, 'victim')
    writeFileSync(victim, content)
    chmodSync(victim, 0o600)
    linkSync(victim, join(root, 'file'))
    const part = await open(root)
    for (let index = part.next; index < manifest.pieces; index++) await part.append(piece(index))
    await part.recheck()
    await part.finish()
    await part.close()
    expect(statSync(victim)).toMatchObject({ mode: 0o100600, nlink: 1 })
    expect(readFileSync(join(root, 'file')).equals(content)).toBe(true)
  })

  test('that already lies there is not fetched again', async () => {
    const { root, content, manifest, open } = await setup()
    writeFileSync(join(root, 'file'), content)
    const part = await open(root)
    expect(part.have).toBe(manifest.pieces)
    expect(await part.recheck()).toBe(true)
    await part.finish()
    await part.close()
    expect(readdirSync(root)).toEqual(['file'])
  })
})

describe('the roots', () => {
  test('hold against paths that lead out of them, by dots, by links, by names', async () => {
    const { folder, root, open } = await setup()
    mkdirSync(join(folder, 'outside'))
    symlinkSync(join(folder, 'outside'), join(root, 'link'))
    for (const directory of [
      join(folder, 'outside'),
      `${root}/../outside`,
      join(root, 'link'),
      join(root, 'link', 'deeper'),
      `${root}-beside`,
      'relative',
    ])
      await expect(open(directory)).rejects.toMatchObject({ code: 203 })
    for (const name of ['..', 'a/b', '']) await expect(open(root, name)).rejects.toMatchObject({ code: 203 })
    expect(readdirSync(join(folder, 'outside'))).toEqual([])
  })

  test('let a link pass that stays inside', async () => {
    const { root, open } = await setup()
    mkdirSync(join(root, 'release-5'))
    symlinkSync(join(root, 'release-5'), join(root, 'current'))
    const part = await open(join(root, 'current'))
    await part.close()
    expect(readdirSync(join(root, 'release-5'))).toHaveLength(1)
  })

  test('a .part that is a link is not followed', async () => {
    const { folder, root, open } = await setup()
    const part = await open(root)
    const [name] = readdirSync(root)
    await part.close({ remove: true })
    writeFileSync(join(folder, 'victim'), 'precious')
    symlinkSync(join(folder, 'victim'), join(root, name!))
    await expect(open(root).catch((error) => Promise.reject(toTargetFailure(error)))).rejects.toMatchObject({
      code: 203,
    })
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious')
  })
})
