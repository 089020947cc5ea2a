import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { MendHandOffsDuty } from '../../src/processing/duties/index.ts'
import { availableBackends } from '../support/backends.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'
import { createAll, type Made, tasksOnDisk } from './callers.ts'
import { drainQueue, plainRedis, setup } from './setup.ts'

const NAME = 'postgres + redis'
const FILES_A_ROUND = 160
/** After so many notes were written or removed, by both instances together, one of them is killed. */
const KILLED_AFTER = [1, 30, 70, 110, 150, 200]
/** A hand-off that stood still for so long is broken off. */
const STOOD_STILL_MS = 3 * 60_000

type Ground = Awaited<ReturnType<typeof setup>>

/** Settings of an instance on the test's ledger, Redis and disk; PostgreSQL knows its connections by the name. */
function settingsOf({ backend, link, handOff }: Ground, name: string): Record<string, string> {
  const { url, prefix, queueKey } = link.options
  const database = new URL(backend.env.DATABASE_URL ?? '')
  database.searchParams.set('application_name', name)
  return {
    DATABASE_URL: database.href,
    REDIS_URL: url,
    WHARF_REDIS_PREFIX: prefix,
    TASK_QUEUE_KEY: queueKey,
    LOCAL_STORAGE_PATH: handOff.storage,
    TEMP_STORAGE_PATH: handOff.temp,
    WHARF_ADMIN_TOKEN: 'the-same-admin-token',
    WHARF_DATA_DIR: temporaryFolder(),
    WHARF_SHARED_DIR: backend.env.WHARF_SHARED_DIR ?? '',
  }
}

/** What a killed process had sent may still be carried out; its connections end with that. */
async function connectionsOf({ ledger }: Ground, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity where application_name = ${name}`.execute(ledger.db)
  return rows[0]?.count ?? 0
}

test.runIf(availableBackends().includes(NAME))(
  'an instance killed among others while it makes tasks loses no file, and the other goes on',
  async () => {
    const ground = await setup(NAME)
    const { handOff, ledger, link } = ground
    const notes = join(handOff.storage, '.handoff')
    const survivor = await serveWharf(settingsOf(ground, 'survivor'))
    const paths: string[] = []
    const answered: Made[] = []
    const brokenOff = new Set<string>()

    for (const [round, killedAfter] of KILLED_AFTER.entries()) {
      const victim = await serveWharf(settingsOf(ground, 'victim'))
      const waiting = Array.from({ length: FILES_A_ROUND }, (_, index) => {
        const path = join(handOff.temp, `${round}-${index}.upload`)
        // A file's content is its path, so that each can be told wherever it is.
        writeFileSync(path, path)
        return path
      })
      paths.push(...waiting)
      let changes = 0
      const watcher = watch(notes, () => {
        if (++changes === killedAfter) victim.child.kill('SIGKILL')
      })
      const calls = [victim, survivor].map(({ grpcAddress }) =>
        createAll(grpcAddress, waiting, (made) => answered.push(made)),
      )
      await Promise.all(calls)
      watcher.close()
      expect(await victim.exited).toMatchObject({ signal: 'SIGKILL' })
      for (const note of readdirSync(notes)) brokenOff.add(note)
      expect(waiting, 'files that the survivor was not asked for').toEqual([])
    }
    expect(brokenOff.size, 'hand-offs that a kill met under way').toBeGreaterThan(0)

    await until('nothing of the killed is under way', async () => !(await connectionsOf(ground, 'victim')))
    const later = async () => (await handOff.now()) + STOOD_STILL_MS
    await new MendHandOffsDuty({ ...ground, now: later }).runOnce()
    expect(readdirSync(notes)).toEqual([])
    const left = paths.filter((path) => existsSync(path))
    for (const path of left) expect(readFileSync(path, 'utf8')).toBe(path)
    const kept = tasksOnDisk(handOff.storage)
    expect([...left, ...kept.keys()].sort()).toEqual(paths.toSorted())
    for (const { path, id } of answered) expect(kept.get(path)).toBe(id)

    await createAll(survivor.grpcAddress, left, (made) => answered.push(made))
    const tasks = tasksOnDisk(handOff.storage)
    expect([...tasks.keys()].sort()).toEqual(paths.toSorted())
    expect(readdirSync(handOff.temp)).toEqual([])
    const ids = [...tasks.values()].sort()
    const rows = await ledger.db.selectFrom('processing_tasks').select('id').execute()
    expect(rows.map(({ id }) => id).sort()).toEqual(ids)

    // A task whose row was written but not its record is queued by the survivor, once it leads.
    const redis = plainRedis(link.options.url)
    onTestFinished(() => void redis.del(link.options.queueKey, ...ids.map((id) => `task:${id}`)))
    expect(await drainQueue(redis, link.options.queueKey, ids.length)).toEqual(ids)
    expect(await redis.llen(link.options.queueKey)).toBe(0)
    survivor.child.kill('SIGTERM')
    expect(await survivor.exited).toMatchObject({ code: 0 })
  },
)
