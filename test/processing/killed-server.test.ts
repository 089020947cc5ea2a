import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { newId, systemClock } from '../../src/kernel/index.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'
import { createAll, type Made, tasksOnDisk } from './callers.ts'
import { drainQueue, plainRedis } from './setup.ts'

const FILES = 240
/** After so many notes were written or removed the server is killed; the last round is let through. */
const KILLED_AFTER = [1, 2, 20, 40, 65, 90, Number.POSITIVE_INFINITY]

async function rowsOf(dataDir: string): Promise<string[]> {
  const ledger = openSqliteLedger(dataDir, systemClock)
  const rows = await ledger.db.selectFrom('processing_tasks').select('id').execute()
  await ledger.close()
  return rows.map(({ id }) => id).sort()
}

async function killAgainAndAgain(env: Record<string, string>) {
  const dataDir = temporaryFolder()
  const [temp, videos] = [join(dataDir, 'temp'), join(dataDir, 'videos')]
  mkdirSync(temp)
  const paths = Array.from({ length: FILES }, (_, index) => join(temp, `${index}.upload`))
  // A file's content is its path, so that each can be told wherever it is.
  for (const path of paths) writeFileSync(path, path)
  const answered: Made[] = []
  let brokenOff = 0
  for (const killedAfter of KILLED_AFTER) {
    const { child, grpcAddress, exited } = await serveWharf({ ...env, WHARF_DATA_DIR: dataDir })

    // What the last kill broke off is mended: each file is at its place or a task's, never both, never neither.
    expect(readdirSync(join(videos, '.handoff'))).toEqual([])
    const tasks = tasksOnDisk(videos)
    const left = paths.filter((path) => existsSync(path))
    for (const path of left) expect(readFileSync(path, 'utf8')).toBe(path)
    expect([...left, ...tasks.keys()].sort()).toEqual([...paths].sort())
    for (const { path, id } of answered) expect(tasks.get(path)).toBe(id)

    let changes = 0
    const notes = watch(join(videos, '.handoff'), () => {
      if (++changes === killedAfter) child.kill('SIGKILL')
    })
    await createAll(grpcAddress, left, (made) => answered.push(made))
    notes.close()
    if (killedAfter === Number.POSITIVE_INFINITY) child.kill('SIGTERM')
    await exited
    brokenOff += readdirSync(join(videos, '.handoff')).length
  }
  expect(brokenOff, 'kills that met a hand-off under way').toBeGreaterThan(0)
  const tasks = tasksOnDisk(videos)
  expect([...tasks.keys()].sort()).toEqual([...paths].sort())
  expect(readdirSync(temp)).toEqual([])
  expect(await rowsOf(dataDir)).toEqual([...tasks.values()].sort())
  return { dataDir, ids: [...tasks.values()].sort() }
}

test('a server killed while it makes tasks loses no file and makes no task twice', async () => {
  await killAgainAndAgain({})
})

const redisUrl = inject('redisUrl')

test.runIf(redisUrl)('beside Redis, too, and each task comes out of the queue once', async () => {
  const prefix = newId()
  const queue = `${prefix}:pending`
  const env = { REDIS_URL: redisUrl ?? '', TASK_QUEUE_KEY: queue, WHARF_REDIS_PREFIX: prefix }
  const { dataDir, ids } = await killAgainAndAgain(env)
  const redis = plainRedis(redisUrl ?? '')
  onTestFinished(() => void redis.del(queue, ...ids.map((id) => `task:${id}`)))
  // A task whose row was written but not its record is queued by the next server.
  const { child, exited } = await serveWharf({ ...env, WHARF_DATA_DIR: dataDir })
  expect(await drainQueue(redis, queue, ids.length)).toEqual(ids)
  expect(await redis.llen(queue)).toBe(0)
  child.kill('SIGTERM')
  await exited
})
