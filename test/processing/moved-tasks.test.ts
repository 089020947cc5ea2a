import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { loadSqlite } from '../../src/ledger/copy/load-sqlite.ts'
import { loadPostgres } from '../../src/ledger/index.ts'
import { readMigrations } from '../../src/ledger/migrate.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
import { queryRows } from '../support/databases.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { emptyMachine, serveOn } from '../support/machines.ts'
import { until } from '../support/until.ts'

/** The newest migration of version 0.2.0. */
const SCHEMA = 37
const key = ADMIN_TOKEN
const POSTGRES = 'postgres + redis'

type Server = Awaited<ReturnType<typeof serveOn>>

/** Settings of a machine without Redis, with a command that notes the order of the tasks. */
async function machine(name: Parameters<typeof emptyMachine>[0]) {
  const { REDIS_URL = '', ...given } = await emptyMachine(name)
  const env: Record<string, string> = { ...given, WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  const folder = env.WHARF_DATA_DIR ?? ''
  const [order, script] = [join(folder, 'order'), join(folder, 'command.sh')]
  mkdirSync(folder, { recursive: true })
  writeFileSync(script, `echo "$3" >> ${order}\ncp "$1" "$2"\n`)
  return {
    ...{ env, folder, redis: { REDIS_URL } },
    working: { PROCESSOR_COMMAND: `sh ${script} {input} {output} {task_id}` },
    order: () => readFileSync(order, 'utf8').trim().split('\n'),
  }
}

async function resultOf({ ask }: Server, id: string): Promise<string> {
  return until(`task ${id} has its result`, async () => {
    const answer = await ask('GET', `/api/tasks/${id}/result`, { key })
    return answer.status === 200 ? answer.text() : undefined
  })
}

async function upload({ ask }: Server, body: string): Promise<string> {
  const type = 'application/offset+octet-stream'
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': String(body.length), 'content-type': type }
  const made = await ask('POST', '/api/uploads', { key, body, headers })
  expect(made.status).toBe(201)
  return made.headers.get('location')?.split('/').at(-1) ?? ''
}

describe.each(availableBackends())('on the ledger of %s, without Redis', (name) => {
  test('tasks that version 0.2.0 left in its queue become jobs, in their order; ended ones do not', async () => {
    const { env, folder, working, order } = await machine(name)
    const later = Date.now() + 3_600_000
    const row = (id: string, queuedAt: number, status: string, more = {}) => ({
      ...{ id, file_name: 'a.txt', size: 4, original_file_path: join(folder, 'videos', id, 'original.txt') },
      ...{ status, queued_at: queuedAt, created_at: queuedAt, updated_at: queuedAt, seen_at: queuedAt },
      ...{ project_id: null, expires_at: later, progress: null, fence: 0, returns: 0 },
      ...{ result_path: '', result_size: 0, error_message: '', ...more },
    })
    const tasks = [
      row('a', 3_000, 'PENDING'),
      row('b', 1_000, 'PROCESSING', { progress: '0.5', fence: 3, returns: 1 }),
      row('c', 2_000, 'PENDING', { returns: 1 }),
      row('d', 500, 'COMPLETED', { result_path: join(folder, 'videos', 'd', 'result.mp4'), result_size: 4 }),
      row('e', 400, 'FAILED', { error_message: 'no such codec' }),
    ]
    for (const { id } of tasks) {
      mkdirSync(join(folder, 'videos', id), { recursive: true })
      writeFileSync(join(folder, 'videos', id, 'original.txt'), `of ${id}`)
    }
    writeFileSync(join(folder, 'videos', 'd', 'result.mp4'), 'done')
    const copy = { schema: SCHEMA, tables: ['processing_tasks'], rows: () => tasks }
    const migrations = readMigrations().filter(({ version }) => version <= SCHEMA)
    if (env.DATABASE_URL === undefined) await loadSqlite(folder, copy, systemClock, migrations)
    else {
      const ledger = await openPostgresLedger(env.DATABASE_URL, silentLog, { connections: 1 })
      await loadPostgres(ledger, copy, migrations).finally(() => ledger.close())
    }

    const server = await serveOn({ ...env, ...working, TASK_PROCESSOR_CONCURRENCY: '1' })
    for (const id of ['a', 'b', 'c']) expect(await resultOf(server, id)).toBe(`of ${id}`)
    expect(order()).toEqual(['b', 'c', 'a'])
    expect(await resultOf(server, 'd')).toBe('done')
    const failed = await (await server.ask('GET', '/api/tasks/e', { key })).json()
    expect(failed).toMatchObject({ status: 'FAILED', error_message: 'no such codec' })
  })
})

test.runIf(availableBackends().includes(POSTGRES))(
  'tasks that wait go along when Redis is added, and when it is taken away again',
  async () => {
    const { env, redis, working, order } = await machine(POSTGRES)
    const alone = await serveOn(env)
    const first = await upload(alone, 'one')
    await alone.stop('SIGTERM')

    const beside = await serveOn({ ...env, ...redis, ...working })
    expect(await resultOf(beside, first)).toBe('one')
    await beside.stop('SIGTERM')
    const jobs = `select id from jobs where kind = 'processing'`
    expect(await queryRows(env.DATABASE_URL ?? '', jobs)).toEqual([])
    const idle = await serveOn({ ...env, ...redis })
    const second = await upload(idle, 'two')
    await idle.stop('SIGTERM')

    const again = await serveOn({ ...env, ...working })
    expect(await resultOf(again, second)).toBe('two')
    expect(order()).toEqual([first, second])
  },
)
