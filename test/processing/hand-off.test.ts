import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PRIVATE } from '../../src/kernel/files/files.ts'
import { HandOff } from '../../src/processing/files/hand-off.ts'
import { HandOffNotes } from '../../src/processing/files/hand-off-notes.ts'
import { extensionOf } from '../../src/processing/files/temp-path.ts'
import { silentLog } from '../support/backends.ts'
import { temporaryFolder } from '../support/wharf-process.ts'
import { setup } from './setup.ts'

function open(storage?: string) {
  const folder = temporaryFolder()
  const handOff = new HandOff(silentLog, {
    access: PRIVATE,
    storage: storage ?? join(folder, 'videos'),
    temp: join(folder, 'temp'),
  })
  const file = join(handOff.temp, 'upload.bin')
  writeFileSync(file, 'precious')
  return { handOff, file, folder }
}

/** Nothing of a hand-off is left behind. */
function expectUntouched({ handOff, file }: { handOff: HandOff; file: string }) {
  expect(readFileSync(file, 'utf8')).toBe('precious')
  expect(readdirSync(handOff.storage)).toEqual(['.handoff'])
  expect(readdirSync(join(handOff.storage, '.handoff'))).toEqual([])
}

describe('taking a temp file over', () => {
  test('moves it into the folder of the task and keeps its extension', async () => {
    const { handOff, file } = open()
    const taken = await handOff.take('id', file, 'holiday.MOV')
    await taken.done()
    expect(taken).toMatchObject({ path: join(handOff.storage, 'id', 'original.MOV'), size: 8 })
    expect(readFileSync(taken.path, 'utf8')).toBe('precious')
    expect(existsSync(file)).toBe(false)
    expect(readdirSync(join(handOff.storage, '.handoff'))).toEqual([])
  })

  test('undone, it is back where it was', async () => {
    const opened = open()
    await (await opened.handOff.take('id', opened.file, 'a.mp4')).undo()
    expectUntouched(opened)
  })

  test('being undone, it is under way until the folder of the task is gone', async () => {
    const opened = open()
    const { handOff, file } = opened
    const taken = await handOff.take('id', file, 'a.mp4')
    // So many that they are seen going.
    for (let n = 0; n < 2_000; n++) writeFileSync(join(handOff.folderOf('id'), `frame-${n}`), '')
    const undone = taken.undo()
    while (await handOff.isUnderWay('id'));
    expect(existsSync(handOff.folderOf('id'))).toBe(false)
    await undone
    expectUntouched(opened)
  })

  test('undone, it does not overwrite a file that came to its place meanwhile', async () => {
    const { handOff, file } = open()
    const taken = await handOff.take('id', file, 'a.mp4')
    writeFileSync(file, 'newer')
    await taken.undo()
    expect(readFileSync(file, 'utf8')).toBe('newer')
    expect(readFileSync(join(handOff.temp, 'id-upload.bin'), 'utf8')).toBe('precious')
  })

  test('an id that is taken changes nothing of the task that has it', async () => {
    const { handOff, file } = open()
    const taken = await handOff.take('id', file, 'a.mp4')
    await taken.done()
    writeFileSync(file, 'second')
    await expect(handOff.take('id', file, 'a.mp4')).rejects.toMatchObject({ code: 'HANDOFF_FAILED' })
    expect(readFileSync(taken.path, 'utf8')).toBe('precious')
    expect(readFileSync(file, 'utf8')).toBe('second')
  })

  test('a folder that a processor made for a try that was taken back is in nobody’s way', async () => {
    const { handOff, file } = open()
    mkdirSync(handOff.folderOf('id'))
    writeFileSync(join(handOff.folderOf('id'), 'result.mp4'), 'of the earlier try')
    const taken = await handOff.take('id', file, 'a.mp4')
    await taken.done()
    expect(readdirSync(handOff.folderOf('id'))).toEqual(['original.mp4'])
  })

  test('a folder that another file is just being moved into is left alone', async () => {
    const opened = open()
    const { handOff } = opened
    const other = join(handOff.temp, 'other.bin')
    writeFileSync(other, 'other')
    const note = new HandOffNotes(handOff).write('id', other)
    mkdirSync(handOff.folderOf('id'))
    await expect(handOff.take('id', opened.file, 'a.mp4')).rejects.toMatchObject({ code: 'HANDOFF_FAILED' })
    expect(existsSync(handOff.folderOf('id'))).toBe(true)
    expect(existsSync(note.path)).toBe(true)
  })

  test('of two callers with the same file one gets it', async () => {
    const { handOff, file } = open()
    const both = await Promise.allSettled([handOff.take('a', file, 'a'), handOff.take('b', file, 'b')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('a file that is not there cannot be taken', async () => {
    const opened = open()
    await expect(opened.handOff.take('id', join(opened.handOff.temp, 'gone'), 'a')).rejects.toMatchObject({
      code: 'HANDOFF_FAILED',
      message: '文件交接失败',
    })
    expectUntouched(opened)
  })
})

describe('a path that leads elsewhere is refused', () => {
  const refused = { code: 'REQUEST_INVALID' }

  test.each(['/etc/passwd', '', 'TEMP', 'TEMP/../videos/x', 'TEMP/a/../../x', 'TEMPORARY/x', 'TEMP/a\0b'])(
    '%j',
    async (path) => {
      const opened = open()
      const asked = path.replace('TEMP', opened.handOff.temp)
      await expect(opened.handOff.take('id', asked, 'a')).rejects.toMatchObject(refused)
      expectUntouched(opened)
    },
  )

  test('a link, even to a file inside', async () => {
    const opened = open()
    const link = join(opened.handOff.temp, 'link')
    symlinkSync(opened.file, link)
    await expect(opened.handOff.take('id', link, 'a')).rejects.toMatchObject(refused)
    expect(existsSync(link)).toBe(true)
    rmSync(link)
    expectUntouched(opened)
  })

  test('a folder on the way that is a link to the outside', async () => {
    const opened = open()
    const outside = join(opened.folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret'), 'x')
    symlinkSync(outside, join(opened.handOff.temp, 'way'))
    await expect(
      opened.handOff.take('id', join(opened.handOff.temp, 'way', 'secret'), 'a'),
    ).rejects.toMatchObject(refused)
    expect(existsSync(join(outside, 'secret'))).toBe(true)
  })

  test('a folder or a pipe', async () => {
    const opened = open()
    mkdirSync(join(opened.handOff.temp, 'folder'))
    execFileSync('mkfifo', [join(opened.handOff.temp, 'pipe')])
    for (const name of ['folder', 'pipe']) {
      await expect(opened.handOff.take('id', join(opened.handOff.temp, name), 'a')).rejects.toMatchObject(
        refused,
      )
      expect(existsSync(join(opened.handOff.temp, name))).toBe(true)
    }
    expectUntouched(opened)
  })

  test('a file in a folder of the temp dir is fine', async () => {
    const { handOff } = open()
    mkdirSync(join(handOff.temp, 'deep'))
    writeFileSync(join(handOff.temp, 'deep', 'f'), 'x')
    await expect(handOff.take('id', join(handOff.temp, 'deep', 'f'), 'a')).resolves.toMatchObject({ size: 1 })
  })
})

test.each([
  ['video.mov', '.mov'],
  ['视频.MP4', '.MP4'],
  ['archive.tar.gz', '.gz'],
  ['../../etc/passwd', ''],
  ['C:\\films\\a.mkv', '.mkv'],
  ['no-extension', ''],
  ['bad.ex/t', ''],
  ['bad.e x', ''],
  ['.hidden', ''],
])('the extension of %j is %j', (name, extension) => expect(extensionOf(name)).toBe(extension))

const shm = '/dev/shm'
const otherDisk = existsSync(shm) && statSync(shm).dev !== statSync(temporaryRoot()).dev
if (!otherDisk)
  console.error('!!! SKIPPED: hand-off between file systems. It needs /dev/shm on a file system of its own.')

describe.runIf(otherDisk)('between file systems', () => {
  const storageElsewhere = () => {
    const storage = mkdtempSync(join(shm, 'wharf-test-'))
    onTestFinished(() => rmSync(storage, { recursive: true, force: true }))
    return storage
  }

  test('the file is copied, and its source goes when the task exists', async () => {
    const { handOff, file } = open(storageElsewhere())
    const taken = await handOff.take('id', file, 'a.mp4')
    expect(readFileSync(taken.path, 'utf8')).toBe('precious')
    expect(existsSync(file)).toBe(false)
    await taken.done()
    expect(readdirSync(handOff.temp)).toEqual([])
  })

  test('undone, the source is back', async () => {
    const opened = open(storageElsewhere())
    await (await opened.handOff.take('id', opened.file, 'a.mp4')).undo()
    expectUntouched(opened)
  })

  test('a caller that goes away in the middle of a copy finds its file where it was', async () => {
    const opened = open(storageElsewhere())
    const gone = new AbortController()
    const taking = opened.handOff.take('id', opened.file, 'a.mp4', gone.signal)
    gone.abort()
    await expect(taking).rejects.toThrow()
    expectUntouched(opened)
  })

  test('a link between file systems is refused, too', async () => {
    const opened = open(storageElsewhere())
    const link = join(opened.handOff.temp, 'link')
    symlinkSync('/etc/passwd', link)
    await expect(opened.handOff.take('id', link, 'a')).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    expect(existsSync(link)).toBe(true)
  })
})

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0 && process.getuid?.() === 0
if (!canMount) console.error('!!! SKIPPED: the disk-full test. It needs root and mount.')

test.runIf(canMount)('a full disk gives 文件交接失败 and leaves the temp file', async () => {
  const small = temporaryFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small])
  onTestFinished(() => void execFileSync('umount', [small]))
  const opened = open(small)
  writeFileSync(opened.file, Buffer.alloc(4 * 1024 * 1024))
  await expect(opened.handOff.take('id', opened.file, 'a.mp4')).rejects.toMatchObject({
    code: 'HANDOFF_FAILED',
    message: '文件交接失败',
  })
  expect(statSync(opened.file).size).toBe(4 * 1024 * 1024)
  expect(readdirSync(small)).toEqual(['.handoff'])
})

describe('after a crash', () => {
  test('a file that was taken for a task that does not exist goes back', async () => {
    const { handOff, file, folder } = open()
    await handOff.take('lost', file, 'a.mp4')
    const next = new HandOff(silentLog, {
      storage: handOff.storage,
      temp: join(folder, 'temp'),
      access: PRIVATE,
    })
    expect(await next.recover(async () => false, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expectUntouched({ handOff, file })
  })

  test.each([
    ['in a folder', 'deep/er/a%b 片.bin'],
    ['with a name too long for a second one beside the id', `${'n'.repeat(240)}.bin`],
  ])('a file %s goes back to exactly there', async (_, name) => {
    const { handOff } = open()
    const file = join(handOff.temp, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'precious')
    await handOff.take('lost', file, 'a.mp4')
    expect(await handOff.recover(async () => false, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect(readdirSync(handOff.storage)).toEqual(['.handoff'])
    expect(await handOff.isUnderWay('lost')).toBe(false)
  })

  test('a file goes back even if the folder of its task is gone', async () => {
    const opened = open()
    await opened.handOff.take('lost', opened.file, 'a.mp4')
    rmSync(opened.handOff.folderOf('lost'), { recursive: true })
    expect(await opened.handOff.recover(async () => false, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expectUntouched(opened)
  })

  test('in the middle of going back, beside a file that came to its place, it goes back once', async () => {
    const { handOff, file } = open()
    const { path } = await handOff.take('lost', file, 'a.mp4')
    writeFileSync(file, 'newer')
    const substitute = join(handOff.temp, 'lost-upload.bin')
    linkSync(path, substitute)
    expect(await handOff.recover(async () => false, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expect([file, substitute].map((name) => readFileSync(name, 'utf8'))).toEqual(['newer', 'precious'])
    expect(readdirSync(handOff.storage)).toEqual(['.handoff'])
    expect(await handOff.isUnderWay('lost')).toBe(false)
  })

  test('a crash right after the note leaves the file where it is', async () => {
    const opened = open()
    new HandOffNotes(opened.handOff).write('early', opened.file)
    expect(await opened.handOff.recover(async () => false, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expectUntouched(opened)
  })

  test('a file whose task exists stays, and only the note goes', async () => {
    const { handOff, file } = open()
    const { path } = await handOff.take('kept', file, 'a.mp4')
    expect(await handOff.recover(async () => true, { graceMs: 0, now: Date.now() + 1 })).toBe(1)
    expect(existsSync(path)).toBe(true)
    expect(await handOff.isUnderWay('kept')).toBe(false)
  })

  test('a hand-off that is under way is left alone', async () => {
    const { handOff, file } = open()
    await handOff.take('young', file, 'a.mp4')
    expect(await handOff.recover(async () => false, { now: Date.now() })).toBe(0)
    expect(await handOff.isUnderWay('young')).toBe(true)
  })
})

test('a caller that goes away before the task is made gets its file back', async () => {
  const { service, tempFile, rows } = await setup('embedded')
  const path = tempFile()
  const gone = new AbortController()
  const creating = service.create({ tempFilePath: path, originalFilename: 'a.mp4' }, gone.signal)
  gone.abort()
  await expect(creating).rejects.toThrow()
  expect(existsSync(path)).toBe(true)
  expect(await rows.page('', ['PENDING'])).toEqual([])
})

function temporaryRoot(): string {
  return process.env.TMPDIR ?? '/tmp'
}
