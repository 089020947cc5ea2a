import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ERRORS } from '../../src/kernel/index.ts'
import { availableBackends, scaledOut } from '../support/backends.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { findPromtool, Scrape } from '../support/metrics.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const PROMTOOL = findPromtool()
const EXPORTS = { domain: 'exports', kind: 'export' }

type Ask = (method: string, path: string, ask: { key: string }) => Promise<Response>

async function scrape(ask: Ask): Promise<Scrape> {
  const answer = await ask('GET', '/metrics', { key: ADMIN_TOKEN })
  expect(answer.status).toBe(200)
  return new Scrape(await answer.text())
}

describe.each(availableBackends())('on %s', (name) => {
  test('work, rows, bytes, requests and callbacks are counted, with no label that names one of them', async () => {
    const { wharf, business, client, backend } = await startExports(name)
    const before = await scrape(wharf.ask)
    const receiver = business.receiver(200)
    const done = await client.run({ source_url: business.source({ total: 250 }).url, callback: receiver.url })
    const gone = await client.start({ source_url: `${business.origin}/nowhere` })
    await client.ended(gone.task_id)
    await client.bytes(done.task_id)
    const after = await until('all is counted', async () => {
      const seen = await scrape(wharf.ask)
      const told = seen.sum('wharf_callbacks_total') > before.sum('wharf_callbacks_total')
      return told && seen.sum('wharf_sent_bytes_total') > before.sum('wharf_sent_bytes_total')
        ? seen
        : undefined
    })
    const more = (metric: string, labels: Record<string, string>) =>
      after.sum(metric, labels) - before.sum(metric, labels)
    const { size = 0 } = done.file ?? {}
    expect({
      tasks: more('wharf_tasks_accepted_total', EXPORTS),
      jobs: more('wharf_jobs_accepted_total', EXPORTS),
      succeeded: more('wharf_jobs_ended_total', { ...EXPORTS, outcome: 'succeeded' }),
      failed: more('wharf_jobs_ended_total', { ...EXPORTS, outcome: 'failed' }),
      durations: more('wharf_job_duration_seconds_count', EXPORTS),
      waits: more('wharf_job_queue_age_seconds_count', EXPORTS),
      rowsRead: more('wharf_rows_read_total', { domain: 'exports' }),
      rowsWritten: more('wharf_rows_written_total', { domain: 'exports' }),
      bytesWritten: more('wharf_written_bytes_total', { domain: 'exports' }),
      bytesSent: more('wharf_sent_bytes_total', { domain: 'exports' }),
      callbacks: more('wharf_callbacks_total', { outcome: 'delivered' }),
      called: more('wharf_source_requests_total', { domain: 'notify', status: '200' }),
      unforeseen: more('wharf_unforeseen_errors_total', {}),
    }).toEqual({
      ...{ tasks: 2, jobs: 2, succeeded: 1, failed: 1, durations: 2, waits: 2, rowsRead: 250 },
      ...{ rowsWritten: 250, bytesWritten: size, bytesSent: size, callbacks: 1, called: 1, unforeseen: 0 },
    })
    expect(more('wharf_read_bytes_total', { domain: 'exports' })).toBeGreaterThan(250)
    expect(more('wharf_source_requests_total', { domain: 'exports', status: '404' })).toBeGreaterThan(0)
    expect(more('wharf_ledger_statement_duration_seconds_count', {})).toBeGreaterThan(0)
    expect(after.sum('wharf_jobs_limit', EXPORTS)).toBeGreaterThan(0)
    expect(after.sum('wharf_leader')).toBe(1)
    if (backend.env.DATABASE_URL !== undefined) {
      expect(after.sum('wharf_ledger_connections_max', { pool: 'work' })).toBeGreaterThan(0)
      expect(after.sum('wharf_redis_connections', { state: 'ready' })).toBeGreaterThan(0)
      expect(more('wharf_redis_command_duration_seconds_count', {})).toBeGreaterThan(0)
    }
    for (const id of [done.task_id, gone.task_id, client.project.id, business.origin])
      expect(after.text).not.toContain(id)
  })

  test('what is queued and running is told with its limit and its age, and with the last back-up', async () => {
    const { wharf, business, client } = await startExports(name, { env: { WHARF_EXPORT_CONCURRENCY: '1' } })
    expect((await scrape(wharf.ask)).sum('wharf_last_backup_timestamp_seconds')).toBe(0)
    await wharf.ledger.db
      .insertInto('settings')
      .values({ key: 'last_backup_at', value: '2026-01-02T03:04:05.000Z', updated_at: 0 })
      .execute()
    const source = business.source({ total: 500 })
    source.holdFrom(0)
    await client.start({ source_url: source.url })
    await source.untilHeld()
    await client.start({ source_url: `${source.url}?other` })
    const seen = await until('one runs and one waits', async () => {
      const now = await scrape(wharf.ask)
      const count = (state: string) => now.sum('wharf_jobs', { ...EXPORTS, state })
      const age = now.sum('wharf_oldest_job_seconds', EXPORTS)
      return count('running') === 1 && count('waiting') + count('pending') === 1 && age > 0 ? now : undefined
    })
    expect(seen.sum('wharf_jobs_limit', EXPORTS)).toBe(1)
    expect(seen.sum('wharf_worker_slots', { pool: 'export' })).toBeGreaterThan(0)
    expect(seen.sum('wharf_last_backup_timestamp_seconds')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000)
    source.release()
  })

  test('tasks of processing are counted like jobs', async () => {
    const { ask } = await startHttp(name)
    const of = { domain: 'processing', kind: 'processing' }
    const before = await scrape(ask)
    const made = await ask('POST', '/api/uploads', {
      key: ADMIN_TOKEN,
      body: 'bytes',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': '5',
        'content-type': 'application/offset+octet-stream',
      },
    })
    expect(made.status).toBe(201)
    const taskId = made.headers.get('location')?.split('/').at(-1)
    const waiting = await until(
      'the task is shown',
      () => scrape(ask),
      (now) => now.sum('wharf_jobs', of) === 1,
    )
    // Without PROCESSOR_COMMAND tasks wait, however long: that is no reason for an alert.
    expect(waiting.sum('wharf_oldest_job_seconds', of)).toBe(0)
    expect((await ask('DELETE', `/api/tasks/${taskId}`, { key: ADMIN_TOKEN })).status).toBe(204)
    const after = await scrape(ask)
    const more = (metric: string, labels: Record<string, string>) =>
      after.sum(metric, labels) - before.sum(metric, labels)
    expect([
      more('wharf_jobs_accepted_total', of),
      more('wharf_jobs_ended_total', { ...of, outcome: 'cancelled' }),
      more('wharf_job_duration_seconds_count', of),
      more('wharf_read_bytes_total', { domain: 'processing' }),
    ]).toEqual([1, 1, 1, 5])
  })

  test.runIf(PROMTOOL)('promtool finds nothing to criticise', async () => {
    const { wharf, business, client } = await startExports(name)
    await client.run({ source_url: business.source({ total: 3 }).url })
    const { text } = await scrape(wharf.ask)
    const checked = spawnSync(PROMTOOL ?? '', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, ''])
  })
})

test('labels take only values from lists that do not grow', async () => {
  const { wharf, business, client } = await startExports()
  const odd = business.at('/odd', (_request, response) => response.writeHead(799).end())
  const count = (seen: Scrape) =>
    seen.sum('wharf_source_requests_total', { domain: 'exports', status: 'other' })
  const before = count(await scrape(wharf.ask))
  const { task_id } = await client.start({ source_url: odd })
  const after = await until('the answer is counted', async () => {
    const seen = await scrape(wharf.ask)
    return count(seen) > before ? seen : undefined
  })
  await client.ask('DELETE', `/api/exports/${task_id}`, { key: client.project.key })
  const codes = new Set(Object.values(ERRORS).map(({ code }) => code as string))
  for (const { name, labels } of after.samples)
    if (name === 'wharf_problems_total') expect(codes).toContain(labels.code)
})

test.runIf(availableBackends().length > 1)(
  'a ledger that is away costs its own lines, not the scrape',
  async ({ skip }) => {
    const postgres = await startPostgres({ fsync: false })
    if (!postgres) return skip('needs the program postgres')
    onTestFinished(() => postgres.remove())
    const backend = await scaledOut({ postgresUrl: postgres.url })
    const { ask } = await startHttp('postgres + redis', { backend })
    expect((await scrape(ask)).sum('wharf_ledger_up')).toBe(1)
    await postgres.stop()
    const seen = await until('it is noticed', async () => {
      const now = await scrape(ask)
      return now.sum('wharf_ledger_up') === 0 ? now : undefined
    })
    expect(seen.samples.filter(({ name }) => name === 'wharf_jobs')).toEqual([])
    expect(seen.sum('wharf_http_request_duration_seconds_count')).toBeGreaterThan(0)
    await postgres.start()
    await until('it is back', async () => (await scrape(ask)).sum('wharf_ledger_up') === 1)
  },
)
