import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accessOf, type Clock } from '../../src/kernel/index.ts'
import { copyWhole } from '../../src/processing/files/copy-whole.ts'
import { ResultFiles } from '../../src/processing/files/result-files.ts'
import { readTaskLog, TaskLogWriter } from '../../src/processing/files/task-log.ts'
import { processorCommand } from '../../src/processing/processor/run-command.ts'
import { runOnce } from '../../src/processing/processor/task-run.ts'
import { uploadOwner } from '../../src/processing/upload-owner.ts'
import { silentLog } from '../support/backends.ts'
import { LIMIT_MS } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const access = accessOf(0o770)
const clock = { now: () => 0 } as unknown as Clock

/** A file that is nobody's business, and the folder of a task. */
function setup() {
  const victim = join(temporaryFolder(), 'victim.txt')
  writeFileSync(victim, 'not yours')
  chmodSync(victim, 0o604)
  const storage = temporaryFolder()
  const folder = join(storage, 'one')
  mkdirSync(folder)
  writeFileSync(join(folder, 'original.txt'), 'a film')
  const run = (script: string) => {
    writeFileSync(join(storage, 'p.sh'), script)
    return runOnce(
      {
        ...{ taskId: 'one', input: join(folder, 'original.txt'), signal: new AbortController().signal },
        ...{ log: silentLog, onProgress: () => undefined, stillMine: async () => true },
      },
      {
        command: processorCommand(`sh ${join(storage, 'p.sh')} {input} {output} ${victim}`),
        ...{ timeoutMs: LIMIT_MS, resultName: 'result.txt', access },
        environment: { PATH: process.env.PATH ?? '' },
      },
    )
  }
  const untouched = () => {
    expect(readFileSync(victim, 'utf8')).toBe('not yours')
    expect(statSync(victim).mode & 0o777).toBe(0o604)
  }
  return { victim, storage, folder, run, untouched }
}

test.each([
  ['a link to a file outside', 'ln -s "$3" "$2"'],
  ['a link to the original', 'ln -s "$1" "$2"'],
  ['a link to nothing', 'ln -s /nothing/of/the/kind "$2"'],
  ['a folder', 'mkdir "$2"'],
  ['a pipe', 'mkfifo "$2"'],
])(
  '[planted-link] a command whose output is %s wrote no file, and nothing outside is touched',
  async (_, script) => {
    const { run, folder, untouched } = setup()
    await expect(run(script)).rejects.toThrow('wrote no file to {output}')
    untouched()
    expect(existsSync(join(folder, 'result.txt'))).toBe(false)
  },
)

test('[planted-link] a result that is also somebody else’s file becomes a file of its own', async () => {
  const { run, victim, untouched } = setup()
  const result = await run('ln "$3" "$2"')
  untouched()
  expect(readFileSync(result, 'utf8')).toBe('not yours')
  expect(lstatSync(result)).toMatchObject({ nlink: 1, mode: 0o100660 })
  expect(statSync(victim).nlink).toBe(1)
})

test.each([
  ['a link', (path: string, victim: string) => symlinkSync(victim, path)],
  ['another name of a file', (path: string, victim: string) => linkSync(victim, path)],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
])('[planted-link] the log of a task replaces %s that was put in its place', async (_, plant) => {
  const { folder, storage, victim, untouched } = setup()
  plant(join(folder, 'process.log'), victim)
  const log = await TaskLogWriter.open(folder, { access, clock, log: silentLog })
  log.line('stdout', 'halfway')
  await log.close()
  untouched()
  expect(lstatSync(join(folder, 'process.log'))).toMatchObject({ nlink: 1, mode: 0o100660 })
  expect((await readTaskLog(storage, 'one')).lines).toMatchObject([{ line: 'halfway' }])
})

test('[planted-link] a copy is not written through a link in its place, and not made of one', async () => {
  const { folder, victim, untouched } = setup()
  const to = join(folder, 'copy.txt')
  symlinkSync(victim, `${to}.part`)
  await copyWhole(join(folder, 'original.txt'), to, { access })
  untouched()
  expect(readFileSync(to, 'utf8')).toBe('a film')
  const link = join(folder, 'link.txt')
  symlinkSync(victim, link)
  await expect(copyWhole(link, join(folder, 'other.txt'), { access })).rejects.toThrow('plain file')
  expect(existsSync(join(folder, 'other.txt'))).toBe(false)
})

test('[planted-link] a pipe that a record names as a result, or beside an upload, holds nobody up', async () => {
  const { storage, folder } = setup()
  for (const name of ['result.mp4', 'film.json']) execFileSync('mkfifo', [join(folder, name)])
  const results = new ResultFiles(storage)
  const gone = { code: 'TASK_WITHOUT_RESULT' }
  await expect(results.stat('one', join(folder, 'result.mp4'))).rejects.toMatchObject(gone)
  expect(await uploadOwner(join(folder, 'film'))).toBeUndefined()
})
