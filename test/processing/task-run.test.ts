import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WaitingFor } from '../../src/jobs/index.ts'
import { PRIVATE } from '../../src/kernel/files/files.ts'
import { AppError, type Clock, ERRORS } from '../../src/kernel/index.ts'
import { processorCommand } from '../../src/processing/processor/run-command.ts'
import { runTask } from '../../src/processing/processor/task-run.ts'
import { silentLog } from '../support/backends.ts'
import { LIMIT_MS } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('a task that meets a full disk says so, and costs no try of its command', async () => {
  const folder = temporaryFolder()
  const input = join(folder, 'original.txt')
  writeFileSync(input, 'a film')
  const heard: (WaitingFor | number)[] = []
  let full = 2
  const result = await runTask(
    {
      ...{ taskId: 'one', input, signal: new AbortController().signal, log: silentLog },
      clock: { now: () => 1_000, sleep: async () => undefined } as unknown as Clock,
      onProgress: (value) => heard.push(value),
      onWaiting: (waiting) => heard.push(waiting),
      stillMine: async () => {
        if (full-- > 0) throw new AppError(ERRORS.STORAGE_FULL, 'no room is left')
        return true
      },
    },
    {
      ...{ command: processorCommand('cp {input} {output}'), timeoutMs: LIMIT_MS, retries: 0 },
      ...{ resultName: 'result.txt', access: PRIVATE, environment: { PATH: process.env.PATH ?? '' } },
    },
  )
  expect(readFileSync(result, 'utf8')).toBe('a film')
  const since = new Date(1_000).toISOString()
  const waiting = { what: 'disk', code: 'STORAGE_FULL', message: 'no room is left', since }
  expect(heard).toMatchObject([waiting, 0, waiting, 0])
})

test('a command that keeps failing is run again after ever longer pauses', async () => {
  const input = join(temporaryFolder(), 'original.txt')
  writeFileSync(input, 'a film')
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  const run = runTask(
    {
      ...{ taskId: 'one', input, signal: new AbortController().signal, log: silentLog },
      clock: { now: () => 1_000, sleep } as unknown as Clock,
      ...{ onProgress: () => undefined, onWaiting: () => undefined, stillMine: async () => true },
    },
    {
      ...{ command: processorCommand('ls /nothing/of/the/kind {input} {output}'), timeoutMs: LIMIT_MS },
      ...{ retries: 4, resultName: 'result.txt', access: PRIVATE },
      environment: { PATH: process.env.PATH ?? '' },
    },
  )
  await expect(run).rejects.toThrow('/nothing/of/the/kind')
  // Doubled each time, give or take a fifth.
  expect(pauses).toHaveLength(4)
  expect(pauses.map((ms, nth) => Math.round(ms / 1_000 / 2 ** nth))).toEqual([1, 1, 1, 1])
})
