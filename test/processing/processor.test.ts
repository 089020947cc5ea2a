import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { OutputLines } from '../../src/kernel/command/output-lines.ts'
import { processorCommand, progressOf } from '../../src/processing/processor/run-command.ts'
import { availableBackends } from '../support/backends.ts'
import { requireBinary } from '../support/find-binary.ts'
import { startRedis } from '../support/redis-server.ts'
import { LIMIT_MS, until } from '../support/until.ts'
import { type ProcessOptions, type SetupOptions, setup } from './setup.ts'

type Made = Awaited<ReturnType<typeof setup>>

/** A running processor whose command is a shell script of the test. */
async function process_(made: Made, script: string, options: ProcessOptions = {}) {
  const file = join(made.folder, 'command.sh')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return made.startProcessor({ command: `${file} {input} {output} {task_id}`, ...options })
}

async function untilTask({ store }: Made, id: string, status: string) {
  const task = await until(
    `the task is ${status}`,
    () => store.details(id),
    (seen) => seen?.status === status,
  )
  return task as NonNullable<typeof task>
}

async function untilFile(path: string): Promise<void> {
  await until(`there is ${path}`, () => existsSync(path))
}

function isAlive(pid: number): boolean {
  try {
    // A zombie that nobody has waited for yet is no longer alive.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function untilDead(pid: number): Promise<void> {
  await until(`process ${pid} is gone`, () => !isAlive(pid))
}

for (const name of availableBackends()) {
  const open = (options: SetupOptions = {}) => setup(name, options)

  describe(`the processor on ${name}`, () => {
    test('runs the command on a task and keeps its result', async () => {
      const made = await open()
      const id = await made.create('film.mov')
      await process_(made, 'tr a-z A-Z < "$1" > "$2"')
      const { resultPath } = await untilTask(made, id, 'COMPLETED')
      expect(resultPath).toBe(join(made.handOff.storage, id, 'result.mp4'))
      expect(readFileSync(resultPath, 'utf8')).toBe('A FILM')
      expect(readdirSync(join(made.handOff.storage, id)).sort()).toEqual(['original.mov', 'result.mp4'])
    })

    test('a command that fails is run again as often as set, then its last words are the reason', async () => {
      const made = await open()
      const id = await made.create()
      await process_(made, 'echo try >> "$1.tries"; echo half > "$2"; echo "no such codec" >&2; exit 3', {
        retries: 1,
      })
      const task = await untilTask(made, id, 'FAILED')
      expect(task.errorMessage).toBe('exit code 3\nno such codec')
      const folder = join(made.handOff.storage, id)
      expect(readFileSync(join(folder, 'original.mov.tries'), 'utf8')).toBe('try\ntry\n')
      expect(readdirSync(folder).filter((file) => file.startsWith('.'))).toEqual([])
    })

    test('progress lines become the progress of the task', async () => {
      const made = await open()
      const id = await made.create()
      const go = join(made.folder, 'go')
      await process_(
        made,
        `echo progress=0.42; while [ -e "$0" ] && [ ! -e ${go} ]; do sleep 0.01; done; cp "$1" "$2"`,
      )
      await until(
        'its progress is told',
        () => made.store.details(id),
        (task) => task?.progress === 0.42,
      )
      writeFileSync(go, '')
      expect((await untilTask(made, id, 'COMPLETED')).progress).toBeNull()
    })

    test('a command that takes too long is ended with all that it started, and not run again', async () => {
      const made = await open()
      // On a busy machine a short time is over before the command has started anything: then it gets a longer one.
      for (let timeoutMs = 300, pid = ''; pid === ''; timeoutMs *= 4) {
        const id = await made.create()
        const script = 'echo run >> "$1.runs"; sleep 60 & echo $! > "$1.pid"; wait'
        const processor = await process_(made, script, { timeoutMs, retries: 5 })
        expect((await untilTask(made, id, 'FAILED')).errorMessage).toMatch(/^took longer than/)
        await processor.stop()
        const traces = (ext: string) => join(made.handOff.storage, id, `original.mov.${ext}`)
        if (!existsSync(traces('pid'))) continue
        pid = readFileSync(traces('pid'), 'utf8').trim()
        expect(readFileSync(traces('runs'), 'utf8')).toBe('run\n')
        if (pid !== '') await untilDead(Number(pid))
      }
    })

    test('a cancelled task is ended with all that it started', async () => {
      const made = await open()
      const id = await made.create()
      const pidFile = join(made.handOff.storage, id, 'original.mov.pid')
      await process_(made, 'sleep 60 & echo $! > "$1.part"; mv "$1.part" "$1.pid"; wait')
      await untilFile(pidFile)
      await made.service.cancel(id)
      await untilDead(Number(readFileSync(pidFile, 'utf8')))
      expect(await made.store.get(id)).toMatchObject({ status: 'FAILED', errorMessage: '任务已取消' })
      expect(existsSync(join(made.handOff.storage, id, 'result.mp4'))).toBe(false)
    })

    test('a processor that stops gives its task back, and it is the first of the next one', async () => {
      const made = await open()
      const [id, next] = [await made.create(), await made.create()]
      const processor = await process_(made, 'touch "$1.begun"; sleep 60')
      await untilFile(join(made.handOff.storage, id, 'original.mov.begun'))
      await processor.stop()
      expect((await made.store.get(id))?.status).toBe('PENDING')
      await process_(made, `echo "$3" >> ${made.folder}/order; cp "$1" "$2"`)
      for (const one of [id, next]) await untilTask(made, one, 'COMPLETED')
      expect(readFileSync(`${made.folder}/order`, 'utf8')).toBe(`${id}\n${next}\n`)
    })

    test('tasks are done in the order in which they came, each once, and a cancelled one not at all', async () => {
      const made = await open()
      const ids = [await made.create(), await made.create(), await made.create(), await made.create()]
      const [cancelled = ''] = ids.splice(1, 1)
      await made.service.cancel(cancelled)
      await process_(made, `echo "$3" >> ${made.folder}/order; cp "$1" "$2"`)
      ids.push(await made.create())
      for (const id of ids) await untilTask(made, id, 'COMPLETED')
      expect(readFileSync(`${made.folder}/order`, 'utf8')).toBe(`${ids.join('\n')}\n`)
      expect(await made.store.get(cancelled)).toMatchObject({ status: 'FAILED', errorMessage: '任务已取消' })
      await expect(made.service.cancel(ids[0] ?? '')).rejects.toMatchObject({ code: 'TASK_FINISHED' })
    })

    test('a command that writes nothing fails', async () => {
      const made = await open()
      const id = await made.create()
      await process_(made, 'true', { retries: 3 })
      expect((await untilTask(made, id, 'FAILED')).errorMessage).toMatch(/wrote no file/)
    })

    test('a task whose original is gone fails and says so', async () => {
      const made = await open()
      const id = await made.create()
      const { rmSync } = await import('node:fs')
      rmSync(join(made.handOff.storage, id, 'original.mov'))
      await process_(made, 'cp "$1" "$2"')
      expect((await untilTask(made, id, 'FAILED')).errorMessage).toBe('原始文件不存在')
    })

    test('as many run at once as set', async () => {
      const made = await open()
      const ids = [await made.create(), await made.create(), await made.create()]
      await process_(
        made,
        'touch "$1.begun"; while [ -e "$0" ] && [ ! -e "$1.go" ]; do sleep 0.01; done; cp "$1" "$2"',
        {
          concurrency: 2,
        },
      )
      const file = (id: string, ext: string) => join(made.handOff.storage, id, `original.mov.${ext}`)
      await Promise.all(ids.slice(0, 2).map((id) => untilFile(file(id, 'begun'))))
      expect((await made.store.get(ids[2] ?? ''))?.status).toBe('PENDING')
      for (const id of ids) writeFileSync(file(id, 'go'), '')
      for (const id of ids) await untilTask(made, id, 'COMPLETED')
    })
  })
}

describe('a command line', () => {
  const values = { input: '/in put/$(x).mov', output: '/o', task_id: '7' }

  test.each([
    ['ffmpeg -i {input} {output}', ['ffmpeg', '-i', '/in put/$(x).mov', '/o']],
    [`sh -c "echo 'a b'" {input} {output}`, ['sh', '-c', "echo 'a b'", '/in put/$(x).mov', '/o']],
    [
      'p --in={input} \'single "x"\' {output} a\\ b {task_id}',
      ['p', '--in=/in put/$(x).mov', 'single "x"', '/o', 'a b', '7'],
    ],
    ['p "" {input} {output}', ['p', '', '/in put/$(x).mov', '/o']],
  ])('%s', (text, words) => expect(processorCommand(text).fill(values)).toEqual(words))

  test.each(['ffmpeg -i {input}', '{input} {output}', 'p "{input} {output}', ''])('%j is refused', (text) =>
    expect(() => processorCommand(text)).toThrow(/PROCESSOR_COMMAND/),
  )
})

test('output is cut into lines at both kinds of line ends, whatever the chunks', () => {
  const lines: string[] = []
  const output = new OutputLines((line) => lines.push(line))
  for (const byte of Buffer.from('one\ntwo\rdrei ✓\r\n\nlast')) output.write(Buffer.from([byte]))
  output.end()
  expect(lines).toEqual(['one', 'two', 'drei ✓', 'last'])
})

test.each([
  ['progress=0.42', 0.42],
  [' progress= 1 ', 1],
  ['progress=7', 1],
  ['progress=.5', 0.5],
  ['progress=continue', undefined],
  ['the progress=0.4', undefined],
])('%j says %s', (line, value) => expect(progressOf(line)).toBe(value))

const ffmpeg = requireBinary('ffmpeg')
if (!ffmpeg) console.error('!!! SKIPPED: the ffmpeg example. Debian: apt-get install ffmpeg')

test.runIf(ffmpeg)('the example of the documentation makes a real result.mp4', async () => {
  const page = readFileSync(new URL('../../docs/processing.md', import.meta.url), 'utf8')
  const command = /^PROCESSOR_COMMAND='(.+)'$/m.exec(page)?.[1] ?? ''
  const made = await setup('embedded')
  const { execFileSync } = await import('node:child_process')
  const source = join(made.handOff.temp, 'clip.mkv')
  const test = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=10:duration=2']
  execFileSync(ffmpeg ?? '', ['-loglevel', 'error', ...test, '-c:v', 'ffv1', source])
  const id = await made.service.create({ tempFilePath: source, originalFilename: 'clip.mkv' })
  await made.startProcessor({ command })
  const ended = await until(
    'the task has ended',
    () => made.store.get(id),
    (task) => task?.status === 'COMPLETED' || task?.status === 'FAILED',
  )
  expect(ended).toMatchObject({ status: 'COMPLETED' })
  const result = join(made.handOff.storage, id, 'result.mp4')
  expect(statSync(result).size).toBeGreaterThan(500)
  const probe = execFileSync('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'format=format_name,duration',
    '-of',
    'csv=p=0',
    result,
  ])
  expect(probe.toString()).toMatch(/mp4.*,2\.0/)
})

test.runIf(availableBackends().length > 1)(
  'a task whose command ends while Redis hangs is completed when it goes on, and the command runs once',
  async () => {
    const redis = await startRedis()
    if (!redis) throw new Error('Redis is there, or this test is skipped')
    onTestFinished(() => redis.remove())
    const made = await setup('postgres + redis', { redisUrl: redis.url })
    const id = await made.create('film.mov')
    const [began, go, ended] = ['began', 'go', 'ended'].map((name) => join(made.folder, name)) as [
      string,
      string,
      string,
    ]
    const script = `echo run >> ${began}; while [ -e "$0" ] && [ ! -e ${go} ]; do sleep 0.1; done; cat "$1" > "$2"; touch ${ended}`
    const queue = made.queue(1)
    const touch = vi.spyOn(queue, 'touch')
    await process_(made, script, { touchMs: LIMIT_MS, retries: 3, queue })
    await untilFile(began)
    redis.hang()
    writeFileSync(go, '')
    await untilFile(ended)
    await until('the task store was asked in vain', () =>
      touch.mock.settledResults.some(({ type }) => type === 'rejected'),
    )
    redis.goOn()
    await untilTask(made, id, 'COMPLETED')
    expect(readFileSync(began, 'utf8')).toBe('run\n')
  },
)
