import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { until } from '../support/until.ts'
import { runWharf, serveWharf, temporaryFolder } from '../support/wharf-process.ts'
import { callTask } from './callers.ts'
import { never, setup } from './setup.ts'

const NAME = 'postgres + redis'

/** Leaves a trace at each step and waits, until it is let go, with its output whole but itself not ended. */
const COMMAND = `#!/bin/sh
echo run >> "$1.runs"
cp "$1" "$2"
touch "$1.written"
while [ -e "$0" ] && [ ! -e "$3/go" ]; do sleep 0.05; done
`

type Made = Awaited<ReturnType<typeof setup>>

/** The moments at which a processor is killed; each resolves when its moment has come. */
const MOMENTS: Record<string, (made: Made, id: string) => Promise<void>> = {
  'as it starts': async () => undefined,
  'when it has claimed': async ({ store }, id) => {
    await until(
      'it is claimed',
      () => store.get(id),
      (task) => task?.status !== 'PENDING',
    )
  },
  'when the command has begun': (made, id) => untilFile(made, id, 'original.mov.runs'),
  'when the output is whole': (made, id) => untilFile(made, id, 'original.mov.written'),
  'around the end': async (made, id) => {
    await untilFile(made, id, 'original.mov.written')
    writeFileSync(join(made.folder, 'go'), '')
    await untilFile(made, id, 'result.mp4')
  },
}

async function untilFile({ handOff }: Made, id: string, name: string): Promise<void> {
  await until(`there is ${name}`, () => existsSync(join(handOff.folderOf(id), name)))
}

async function unfinished({ store }: Made, ids: string[]): Promise<string | undefined> {
  const last = ids.at(-1)
  return last !== undefined && (await store.get(last))?.status !== 'COMPLETED' ? last : undefined
}

function startProcessor(made: Made) {
  const { url, prefix, queueKey } = made.link.options
  return runWharf(['process'], {
    REDIS_URL: url,
    WHARF_REDIS_PREFIX: prefix,
    TASK_QUEUE_KEY: queueKey,
    WHARF_LEASE_SECONDS: '1',
    WHARF_LOG_LEVEL: 'warn',
    PROCESSOR_COMMAND: `${join(made.folder, 'command.sh')} {input} {output} ${made.folder}`,
  })
}

async function started({ child, output, exited }: ReturnType<typeof startProcessor>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', () => output.err.includes('waiting for tasks') && resolve())
    exited.then(() => reject(new Error(output.err)))
  })
}

test.runIf(availableBackends().includes(NAME))(
  'a processor killed 20 times, at each of its steps, loses no task and finishes none twice',
  async () => {
    const made = await setup(NAME, { redisUrl: inject('redisUrl') ?? '', maxReturns: 1_000 })
    writeFileSync(join(made.folder, 'command.sh'), COMMAND)
    chmodSync(join(made.folder, 'command.sh'), 0o755)
    // Commands that outlive their killed processor end with the test.
    onTestFinished(() => writeFileSync(join(made.folder, 'go'), ''))
    await made.duties.follow.runOnce(never)
    const putBack = made.duties.putBack()
    const ids: string[] = []
    for (let round = 0; round < 20; round++) {
      const id = (await unfinished(made, ids)) ?? (await made.create())
      if (!ids.includes(id)) ids.push(id)
      for (const name of ['original.mov.runs', 'original.mov.written', 'result.mp4']) {
        rmSync(join(made.handOff.folderOf(id), name), { force: true })
      }
      rmSync(join(made.folder, 'go'), { force: true })
      const processor = startProcessor(made)
      await started(processor)
      await Object.values(MOMENTS)[round % 5]?.(made, id)
      processor.child.kill('SIGKILL')
      await processor.exited
      await until('the killed one is no longer expected', async () => {
        await putBack.runOnce(never)
        return Object.keys(await made.link.redis.hgetall(made.link.processorsKey)).length === 0
      })
      await made.duties.follow.runOnce(never)
    }
    writeFileSync(join(made.folder, 'go'), '')
    const next = startProcessor(made)
    await started(next)
    for (const id of ids) {
      const ended = await until(
        `task ${id} has ended`,
        async () => {
          await putBack.runOnce(never)
          return made.store.get(id)
        },
        (task) => task?.status !== 'PENDING' && task?.status !== 'PROCESSING',
      )
      expect(ended).toMatchObject({ status: 'COMPLETED' })
    }
    await made.duties.follow.runOnce(never)
    for (const id of ids) {
      const events = await made.engine.events.read(0, { taskId: id })
      expect(events.filter(({ type }) => type === 'processing.succeeded')).toHaveLength(1)
      expect(readFileSync(join(made.handOff.folderOf(id), 'result.mp4'), 'utf8')).toBe('a film')
    }
    next.child.kill('SIGTERM')
    expect(await next.exited).toEqual({ code: 0, signal: null })
    expect(await made.link.redis.keys(made.link.aliveKey('*'))).toEqual([])
  },
)

test('an embedded server that is killed over a task does it again, and gives it up when that happens too often', async () => {
  const dataDir = temporaryFolder()
  const [temp, runs, go] = [join(dataDir, 'temp'), join(dataDir, 'runs'), join(dataDir, 'go')]
  mkdirSync(temp)
  const script = join(dataDir, 'command.sh')
  writeFileSync(
    script,
    `echo run >> ${runs}; while [ -e "$0" ] && [ ! -e ${go} ]; do sleep 0.05; done; cp "$1" "$2"`,
  )
  const settings = {
    WHARF_DATA_DIR: dataDir,
    PROCESSOR_COMMAND: `sh ${script} {input} {output}`,
    TASK_MAX_RETURNS: '1',
  }
  writeFileSync(join(temp, 'a.upload'), 'a film')
  let id = ''
  for (const life of [1, 2]) {
    const { child, grpcAddress, exited } = await serveWharf(settings)
    const request = { temp_file_path: join(temp, 'a.upload'), original_filename: 'a.mp4' }
    if (life === 1) ({ task_id: id } = (await callTask(grpcAddress, request)) as { task_id: string })
    await until('it runs', () => existsSync(runs) && readFileSync(runs, 'utf8') === 'run\n'.repeat(life))
    child.kill('SIGKILL')
    await exited
  }
  const { child, grpcAddress, exited } = await serveWharf(settings)
  const ended = await until(
    'the task has ended',
    () => callTask(grpcAddress, { task_id: id }, 'GetTaskStatus') as Promise<Record<string, string>>,
    ({ status }) => status === 'FAILED',
  )
  expect(ended).toMatchObject({ error_message: '处理器失联，任务已重新入队 1 次仍未完成' })
  child.kill('SIGTERM')
  expect(await exited).toMatchObject({ code: 0 })
  expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n')
})

test('wharf process without Redis says what to do', async () => {
  const { exited, output } = runWharf(['process'], { PROCESSOR_COMMAND: 'cp {input} {output}' })
  expect(await exited).toMatchObject({ code: 1 })
  expect(output.err).toBe(
    "wharf: 'wharf process' needs REDIS_URL; without Redis, 'wharf serve' runs PROCESSOR_COMMAND itself (CONFIG_INVALID)\n",
  )
})
