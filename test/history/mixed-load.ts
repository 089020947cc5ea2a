import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { credentials } from '@grpc/grpc-js'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { Scheduler } from '../../src/exports/saved/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { loadTaskProto } from '../../src/processing/grpc/task-proto.ts'
import { bodyOf, startFeed } from '../runs/feed-server.ts'
import { HeldFeeds } from '../runs/held-feeds.ts'
import { enroll, optionsOf } from '../support/agents.ts'
import { silentLog } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { CookieBrowser } from '../support/cookie-browser.ts'
import { bearer, openSocket } from '../support/event-readers.ts'
import { ADMIN_TOKEN, type Ask, type newProject, type startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

/** Copies its input, or never ends if the input says so. */
export function processorCommand(): string {
  const script = join(temporaryFolder(), 'processor.sh')
  writeFileSync(script, 'if grep -q wait "$1"; then exec sleep 600; fi; exec cp "$1" "$2"\n')
  return `sh ${script} {input} {output}`
}

type Wharf = Awaited<ReturnType<typeof startHttp>>
type Project = Awaited<ReturnType<typeof newProject>>
// biome-ignore lint/suspicious/noExplicitAny: answers of every route; each member is checked by whoever reads it.
type Json = Record<string, any>

/** One of everything that can be asked of a server: all routes of all domains, gRPC, SSE and WebSocket. */
export class MixedLoad {
  readonly #wharf: Wharf
  readonly #project: Project
  readonly #asked: string[] = []

  constructor(wharf: Wharf, project: Project) {
    this.#wharf = wharf
    this.#project = project
  }

  async run(): Promise<void> {
    await this.#exports()
    await this.#runs()
    await this.#transfers()
    await this.#processing()
    await this.#connections()
    await this.#installation()
  }

  /** The routes of the API that were not asked. */
  async unasked(): Promise<string[]> {
    const { paths } = (await (await this.#wharf.ask('GET', '/openapi.json')).json()) as { paths: Json }
    return Object.entries(paths).flatMap(([path, methods]) => {
      const form = new RegExp(`^${path.replace('{path}', '.+').replace(/\{\w+\}/g, '[^/]+')}$`)
      return Object.keys(methods as object)
        .map((method) => method.toUpperCase())
        .filter(
          (method) =>
            !this.#asked.some(
              (line) => line.startsWith(`${method} `) && form.test(line.slice(method.length + 1)),
            ),
        )
        .map((method) => `${method} ${path}`)
    })
  }

  async #ask(method: string, path: string, { key = this.#project.key, ...ask }: Ask = {}): Promise<Response> {
    this.#asked.push(`${method} ${path.split('?')[0]}`)
    const answer = await this.#wharf.ask(method, path, { key, ...ask })
    if (answer.status >= 400) expect.fail(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }

  async #json(method: string, path: string, ask: Ask = {}): Promise<Json> {
    return (await this.#ask(method, path, ask)).json() as Promise<Json>
  }

  #until(path: string, matches: (view: Json) => boolean, key = this.#project.key): Promise<Json> {
    return until(`${path} is as expected`, async () => {
      const view = await this.#json('GET', path, { key })
      return matches(view) && view
    })
  }

  /** The first page of a list, and the second if there is one. */
  async #pages(path: string, key = this.#project.key): Promise<void> {
    const { next_cursor } = await this.#json('GET', path, { key })
    if (next_cursor) await this.#json('GET', `${path}&cursor=${next_cursor}`, { key })
  }

  async #exports(): Promise<void> {
    const business = await BusinessSystem.start()
    const told = business.receiver()
    const held = business.source({ total: 250 })
    held.holdFrom(1)
    const body = { source_url: held.url, page_size: 100, operator_id: 'anna', callback: told.url }
    const once = { headers: { 'idempotency-key': `once-${this.#project.id}` } }
    const first = await this.#json('POST', '/api/exports', { body, ...once })
    await this.#json('POST', '/api/exports', { body, ...once })
    const joined = await this.#json('POST', '/api/exports', { body })
    // Enough for the lane to be full: the last ones wait for their turn.
    const queued: Json[] = []
    for (let n = 0; n < 6; n++)
      queued.push(await this.#json('POST', '/api/exports', { body: { ...body, file_name: `n${n}.csv` } }))
    const waiting = queued.at(-1)?.task_id as string
    expect((await this.#json('GET', `/api/exports/${waiting}/position`)).position).toBeGreaterThan(0)
    await this.#loseWorker(waiting)
    await this.#ask('DELETE', `/api/exports/${joined.task_id}`)
    await this.#ask('DELETE', `/api/exports/${queued[4]?.task_id}`)
    const socket = await openSocket(
      `${this.#wharf.address}/ws?task_id=${first.task_id}`,
      bearer(this.#project.key),
    )
    held.release()
    await socket.until('export.succeeded')
    socket.socket.close()
    const again = business.source({ total: 250 })
    again.holdFrom(1)
    const cancelled = await this.#json('POST', '/api/exports', { body: { ...body, source_url: again.url } })
    await this.#ask('DELETE', `/api/exports/${cancelled.task_id}`)
    again.release()
    await this.#until(`/api/exports/${cancelled.task_id}`, ({ status }) => status === 'cancelled')
    await this.#json('POST', `/api/exports/${cancelled.task_id}/retry`)
    await this.#loseWake(business)
    await this.#until(`/api/exports/${waiting}`, ({ status }) => status === 'succeeded')
    const quick = { source_url: business.source({ total: 3 }).url }
    await (await this.#ask('POST', '/api/exports?mode=sync', { body: quick })).arrayBuffer()
    await this.#json('POST', '/api/exports/preview', { body: quick })
    const kept = await this.#json('POST', '/api/exports', {
      body: { ...quick, keep_rows_hours: 1, link_uses: 9, priority: 'scheduled' },
    })
    const done = await this.#until(`/api/exports/${kept.task_id}`, ({ status }) => status === 'succeeded')
    await (await fetch(String(done.download_url))).arrayBuffer()
    const other = await this.#json('POST', `/api/exports/${kept.task_id}/render`, { body: { type: 'jsonl' } })
    await this.#until(`/api/exports/${other.task_id}`, ({ status }) => status === 'succeeded')
    await this.#ask('DELETE', `/api/exports/${kept.task_id}/file`)
    await (await this.#ask('GET', '/samples/orders?rows=3&page=0&page_size=3')).text()
    await this.#named(quick.source_url)
    const id = first.task_id as string
    await this.#json('POST', `/api/exports/${id}/ticket`)
    await (await this.#ask('GET', `/api/exports/${id}/file`)).arrayBuffer()
    await told.call()
    await this.#json('POST', `/api/exports/${kept.task_id}/run-again`)
    for (const what of ['events', 'deliveries', 'downloads', 'position', 'report', 'manifest', 'request'])
      await this.#json('GET', `/api/exports/${id}/${what}`)
    const list = `/api/projects/${this.#project.id}/exports`
    const statuses = ['pending', 'processing', 'succeeded', 'failed', 'cancelled'].map(
      (status) => `status=${status}`,
    )
    for (const filter of [
      '',
      ...statuses,
      'operator_id=anna',
      'operator_id=nobody',
      'search=nothing-like-it',
      'type=csv',
      'status=failed&type=csv',
      ...['created', 'finished', 'name', 'size'].flatMap((sort) => [`sort=${sort}`, `sort=-${sort}`]),
      `from=2026-01-01T00:00:00Z&to=${new Date().toISOString()}`,
      'total=true',
      'total=true&status=failed',
      `total=true&status=failed&ended_from=${new Date().toISOString()}`,
    ])
      await this.#pages(`${list}?limit=20&${filter}`)
    const ended = `status=failed&ended_from=${new Date().toISOString()}`
    for (const filter of ['', ...statuses, 'sort=created', 'total=true', `total=true&${ended}`])
      await this.#pages(`/api/exports?limit=20&${filter}`, ADMIN_TOKEN)
    for (const prefix of ['', 'operator-1'])
      await this.#json('GET', `/api/projects/${this.#project.id}/operators?prefix=${prefix}`)
    await this.#bulk(id)
    for (const scope of [`task_id=${id}`, `project_id=${this.#project.id}`]) {
      await this.#firstEvent(`/api/events?after=0&${scope}`, this.#project.key)
      await this.#firstEvent(
        `/api/events?${scope}&after=${Number.MAX_SAFE_INTEGER}`,
        this.#project.key,
      ).catch(() => undefined)
    }
    await this.#firstEvent('/api/events?after=0', ADMIN_TOKEN)
    await this.#ask('DELETE', `/api/exports/${waiting}/file`)
    const audit = { project_id: this.#project.id, source: { kind: 'audit', action: 'project.created' } }
    const file = await this.#ask('POST', '/api/exports?mode=sync', { key: ADMIN_TOKEN, body: audit })
    await file.arrayBuffer()
  }

  /** The same for many, by id and by filter. */
  async #bulk(id: string): Promise<void> {
    const bulk = (body: object) => this.#json('POST', '/api/exports/bulk', { body })
    for (const action of ['retry', 'cancel', 'delete_file']) await bulk({ action, ids: [id] })
    await bulk({ action: 'cancel', filter: { status: 'pending' } })
    // What the history holds cannot be tried again: it was never asked for.
    await bulk({ action: 'retry', filter: { operator_id: 'anna' } })
    const files = { action: 'delete_file', filter: { operator_id: 'operator-2' } }
    const { next_cursor: cursor } = await bulk(files)
    // Without a history there is no second page.
    if (cursor) await bulk({ ...files, cursor })
    await this.#json('POST', `/api/exports/${id}/deliveries/resend`)
    await this.#json('GET', `/api/exports/${id}/callback`)
    for (const filter of ['', 'failed=true'])
      await this.#pages(`/api/deliveries?limit=20&${filter}`, ADMIN_TOKEN)
  }

  /** What is kept under a name, and asked for by it. */
  async #named(source_url: string): Promise<void> {
    for (const title of ['One', 'Two'])
      await this.#json('PUT', '/api/templates/people', { body: { template: { id: title } } })
    await this.#json('PUT', '/api/templates/others', { body: { template: { id: 'Id' } } })
    await this.#json('GET', '/api/templates/people')
    await this.#json('GET', '/api/templates/people?version=1')
    await this.#pages('/api/templates?limit=1')
    await this.#json('POST', '/api/exports', { body: { source_url, template: { use: 'people' } } })
    await this.#ask('DELETE', '/api/templates/others')
    const schedule = { cron: '* * * * *', timezone: 'UTC' }
    const parameters = { from: '{{last_month.start}}' }
    for (const [name, more] of Object.entries({ every: { schedule }, once: {}, gone: {} }))
      await this.#json('PUT', `/api/saved-exports/${name}`, { body: { source_url, parameters, ...more } })
    // Due at once: the scheduler starts it. The leader's own may look only after twenty seconds.
    await this.#wharf.ledger.db
      .updateTable('saved_exports')
      .set({ due_at: 1, wake_at: 1 })
      .where('name', '=', 'every')
      .execute()
    const { ledger, saved, exports } = this.#wharf
    await new Scheduler({ ledger, saved, exports, log: silentLog }).runOnce(new AbortController().signal)
    await this.#until('/api/saved-exports/every', ({ last_run }) => last_run !== null)
    for (const from of ['a', 'b'])
      await this.#json('POST', '/api/saved-exports/once/run', { body: { parameters: { from } } })
    await this.#pages('/api/saved-exports/once/runs?limit=1')
    await this.#pages('/api/saved-exports?limit=1')
    await this.#ask('DELETE', '/api/saved-exports/gone')
  }

  /** The worker of a job has died: the leader takes the job back. */
  async #loseWorker(taskId: string): Promise<void> {
    const { db } = this.#wharf.ledger
    const task = db.selectFrom('tasks').select('job_id').where('id', '=', taskId)
    const { job_id: id } = await task.executeTakeFirstOrThrow()
    await db
      .updateTable('jobs')
      .set({ state: 'running', worker: 'gone', lease_until: 0 })
      .where('id', '=', id)
      .execute()
    await until('the lease is taken back', () =>
      db.selectFrom('jobs').select('id').where('id', '=', id).where('crashes', '>', 0).executeTakeFirst(),
    )
  }

  /** The wake-up of a job was lost: the leader repeats it. */
  async #loseWake(business: BusinessSystem): Promise<void> {
    const { db } = this.#wharf.ledger
    const busy = business.receiver(503)
    const source_url = business.source({ total: 1 }).url
    await this.#json('POST', '/api/exports', { body: { source_url, callback: busy.url } })
    await busy.call()
    // Its next try is far away, so that nobody claims it before it was looked at.
    const { id } = await until('the callback waits for its next try', () =>
      db
        .updateTable('jobs')
        .set({ wake_at: 0, due_at: sql<number>`wharf_now() + 3600000` })
        .where('kind', '=', 'callback')
        .where(sql<boolean>`state = 'pending'`)
        .returning('id')
        .executeTakeFirst(),
    )
    await until('the wake-up is repeated', () =>
      db.selectFrom('jobs').select('id').where('id', '=', id).where('wakes', '>', 0).executeTakeFirst(),
    )
  }

  async #firstEvent(path: string, key?: string): Promise<void> {
    this.#asked.push('GET /api/events')
    const stop = new AbortController()
    const answer = await fetch(`${this.#wharf.address}${path}`, {
      headers: { ...(key && bearer(key)), accept: 'text/event-stream' },
      signal: stop.signal,
    })
    expect(answer.status).toBe(200)
    if (!path.includes(String(Number.MAX_SAFE_INTEGER))) await answer.body?.getReader().read()
    stop.abort()
  }

  async #runs(): Promise<void> {
    const admin = { key: ADMIN_TOKEN }
    const feed = await startFeed(
      [1, 2, 3].map((n) => ({
        ...{ id: `f${n}`, name: `f${n}.txt`, body: bodyOf(`f${n}`, 40) },
        // The first run fails at the last one.
        ...(n === 3 && {
          fault: (_, response, attempt) => attempt < 5 && response.writeHead(404).end() !== null,
        }),
      })),
    )
    const stuck = await HeldFeeds.open(['held'])
    await this.#json('PUT', '/api/accounts/account-1', { ...admin, body: { url: feed.url } })
    await this.#json('PUT', '/api/accounts/held', { ...admin, body: { url: stuck.url('held') } })
    const start = (handle: string, kind: string) =>
      this.#json('POST', '/api/runs', { ...admin, body: { handle, kind } })
    for (const kind of ['start', 'continue']) {
      const { run_id } = await start('account-1', kind)
      await this.#until(`/api/runs/${run_id}`, ({ state }) => state === 'Done', ADMIN_TOKEN)
    }
    const retried = await start('account-1', 'retry')
    await this.#until(`/api/runs/${retried.run_id}`, ({ state }) => state === 'Done', ADMIN_TOKEN)
    await this.#account('account-1', retried.run_id)
    const { run_id } = await start('held', 'start')
    await this.#until(`/api/runs/${run_id}`, ({ state }) => state === 'Running', ADMIN_TOKEN)
    await this.#json('GET', '/api/state', admin)
    await this.#json('POST', '/api/runs/bulk', { ...admin, body: { action: 'start', handles: ['held'] } })
    await this.#ask('POST', `/api/runs/${run_id}/cancel`, { ...admin, body: { files: 'delete' } })
    await this.#until(`/api/runs/${run_id}`, ({ state }) => state !== 'Running', ADMIN_TOKEN)
    await this.#ask('PUT', '/api/settings/max_concurrent', { ...admin, body: { value: 4 } })
    await this.#ask('DELETE', '/api/accounts/account-1', admin)
  }

  /** Looks at one account as its page does. */
  async #account(handle: string, runId: string): Promise<void> {
    const admin = { key: ADMIN_TOKEN }
    await this.#json('GET', `/api/accounts/${handle}`, admin)
    for (const list of ['runs', 'files', 'failed-files'])
      await this.#pages(`/api/accounts/${handle}/${list}?limit=2`, ADMIN_TOKEN)
    await this.#pages(`/api/runs/${runId}/log?limit=2`, ADMIN_TOKEN)
    await (await this.#ask('GET', `/api/accounts/${handle}/files/f1`, admin)).arrayBuffer()
  }

  async #transfers(): Promise<void> {
    const root = temporaryFolder()
    const { address } = this.#wharf
    const enrolled = async (container: string) => {
      const body = { agent_id: 'agent-1', container_id: container }
      const { token } = await this.#json('POST', '/api/agents/enrollments', { key: ADMIN_TOKEN, body })
      return enroll(address, { id: 'agent-1', container, token: token as string })
    }
    const agent = new Agent(
      { clock: systemClock, log: silentLog },
      optionsOf(address, { id: 'agent-1', root }, await enrolled('')),
    )
    await agent.start()
    try {
      await this.#deliver(root)
    } finally {
      await agent.stop()
    }
    await enrolled('c1')
    for (const path of ['/api/agents/agent-1', '/api/agents/agent-1/c1'])
      await this.#ask('DELETE', path, { key: ADMIN_TOKEN })
  }

  async #deliver(root: string): Promise<void> {
    await this.#ask('PUT', `/api/projects/${this.#project.id}/agents`, {
      key: ADMIN_TOKEN,
      body: { agents: ['agent-*'] },
    })
    await this.#json('GET', `/api/projects/${this.#project.id}/agents`, { key: ADMIN_TOKEN })
    await until('the agent is connected', async () => (await this.#json('GET', '/api/agents')).length > 0)
    const put = (body: string) =>
      this.#json('PUT', '/api/repository/release/app.bin', {
        body,
        headers: { 'content-type': 'application/octet-stream' },
      })
    await put('the first version')
    const { signature } = await put('what is delivered')
    for (const filter of ['', 'prefix=release/app']) await this.#pages(`/api/repository?limit=20&${filter}`)
    const transfer = (directory: string, target_agent_id = 'agent-1') =>
      this.#json('POST', '/api/transfers', {
        body: {
          ...{ biz_id: 5, app_id: 6, file_path: '/release', file_name: 'app.bin', file_signature: signature },
          ...{ target_agent_id, target_file_dir: directory },
        },
      })
    const made = [await transfer(join(root, 'in')), await transfer(join(root, 'other'))]
    for (const { job_id, task_id } of made) {
      await this.#until(
        `/api/transfer-jobs/${encodeURIComponent(job_id)}`,
        ({ status }) => status === 'Success',
      )
      await this.#json('GET', `/api/transfers/${encodeURIComponent(task_id)}`)
    }
    // One that is not connected: the delivery has not ended before it is dropped.
    const dropped = await transfer(join(root, 'dropped'), 'agent-2')
    const drop = `/api/transfer-jobs/${encodeURIComponent(dropped.job_id)}`
    await this.#ask('DELETE', drop)
    // One that runs already ends a moment later.
    await this.#until(drop, ({ failed_targets }) => Object.keys(failed_targets).length > 0)
    await this.#json('POST', `${drop}/redeliver`)
    for (const key of [this.#project.key, ADMIN_TOKEN])
      for (const filter of ['', 'status=Pending', 'status=Running', 'status=Success', 'status=Failed'])
        await this.#pages(`/api/transfer-jobs?limit=20&${filter}`, key)
  }

  async #processing(): Promise<void> {
    const tus = { 'tus-resumable': '1.0.0' }
    const upload = async (length: number) => {
      const headers = { ...tus, 'upload-length': String(length), 'upload-metadata': 'filename YS5tb3Y=' }
      const made = await this.#ask('POST', '/api/uploads', { headers })
      return made.headers.get('location')?.split('/').at(-1) ?? ''
    }
    await this.#ask('OPTIONS', '/api/uploads', { headers: tus })
    const dropped = await upload(4)
    await this.#ask('HEAD', `/api/uploads/${dropped}`, { headers: tus })
    await this.#ask('DELETE', `/api/uploads/${dropped}`, { headers: tus })
    const id = await upload(4)
    const piece = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    await this.#ask('PATCH', `/api/uploads/${id}`, { headers: piece, body: 'film' })
    await this.#until(`/api/tasks/${id}`, ({ status }) => status === 'COMPLETED')
    await this.#json('POST', `/api/tasks/${id}/ticket`)
    await (await this.#ask('GET', `/api/tasks/${id}/result`)).arrayBuffer()
    await this.#grpc()
    const stuck = await upload(4)
    await this.#ask('PATCH', `/api/uploads/${stuck}`, { headers: piece, body: 'wait' })
    await this.#until(`/api/tasks/${stuck}`, ({ status }) => status === 'PROCESSING')
    await this.#ask('DELETE', `/api/tasks/${stuck}`)
    for (const detail of ['log', 'events']) await this.#json('GET', `/api/tasks/${id}/${detail}`)
    const again = await this.#json('POST', `/api/tasks/${stuck}/retry`)
    await this.#ask('DELETE', `/api/tasks/${again.task_id}`)
    await this.#ask('DELETE', `/api/tasks/${id}/record`)
    for (const key of [this.#project.key, ADMIN_TOKEN])
      for (const filter of ['', 'status=PENDING', 'status=PROCESSING', 'status=COMPLETED', 'status=FAILED'])
        await this.#pages(`/api/tasks?limit=20&${filter}`, key)
  }

  async #grpc(): Promise<void> {
    const temp = join(this.#wharf.config.WHARF_DATA_DIR, 'temp')
    mkdirSync(temp, { recursive: true })
    const path = join(temp, 'film.upload')
    writeFileSync(path, 'film')
    const { TaskService } = loadTaskProto()
    const client = new TaskService(this.#wharf.grpcAddress, credentials.createInsecure())
    const call = (method: 'CreateTask' | 'GetTaskStatus', request: object) =>
      new Promise<Json>((resolve, reject) =>
        client[method]?.(request, (error: Error | null, answer?: Json) =>
          answer ? resolve(answer) : reject(error),
        ),
      )
    const { task_id } = await call('CreateTask', { temp_file_path: path, original_filename: 'film.mov' })
    await call('GetTaskStatus', { task_id })
    client.close()
  }

  async #connections(): Promise<void> {
    const folder = temporaryFolder()
    const url = join(folder, 'shop.db')
    const database = new DatabaseSync(url)
    database.exec('create table orders (id integer); insert into orders values (1), (2)')
    database.close()
    const admin = { key: ADMIN_TOKEN }
    const body = { driver: 'sqlite', url, projects: [this.#project.id] }
    await this.#ask('PUT', '/api/connections/shop', { ...admin, body })
    await this.#json('GET', '/api/connections', admin)
    await this.#json('GET', '/api/connections/shop', admin)
    await this.#json('GET', `/api/projects/${this.#project.id}/connections`)
    await this.#json('POST', '/api/connections/shop/test', admin)
    const source = { kind: 'sql', connection: 'shop', query: 'select id from orders' }
    await (await this.#ask('POST', '/api/exports?mode=sync', { body: { source } })).arrayBuffer()
    await this.#ask('DELETE', '/api/connections/shop', admin)
  }

  /** Signing in and out again, and being signed out by the admin. */
  async #sessions(): Promise<void> {
    const browser = new CookieBrowser(this.#wharf.address)
    for (const end of ['DELETE /api/session', 'DELETE /api/sessions/{id}']) {
      await browser.signIn(this.#project.key)
      const { session_id } = await browser.json<Json>('GET', '/api/session')
      await browser.ask('POST', `/api/projects/${this.#project.id}/ticket`)
      await this.#json('GET', '/api/sessions', { key: ADMIN_TOKEN })
      if (end.includes('{id}')) await this.#ask('DELETE', `/api/sessions/${session_id}`, { key: ADMIN_TOKEN })
      else await browser.ask('DELETE', '/api/session')
    }
    this.#asked.push('POST /api/session', 'DELETE /api/session')
    await this.#wharf.sessions.runOnce()
  }

  async #installation(): Promise<void> {
    await this.#ask('GET', `/api/projects/${this.#project.id}/usage`)
    const admin = { key: ADMIN_TOKEN }
    const { project_id } = await this.#json('POST', '/api/projects', {
      ...admin,
      body: { name: 'short-lived' },
    })
    await this.#json('GET', '/api/projects', admin)
    for (const what of ['api_key', 'webhook_secret'])
      await this.#json('POST', `/api/projects/${project_id}/rotate`, { ...admin, body: { what } })
    const keys = `/api/projects/${project_id}/keys`
    const made = await this.#json('POST', keys, { ...admin, body: { name: 'ci', scopes: ['read'] } })
    await this.#json('GET', keys, admin)
    await this.#ask('DELETE', `${keys}/${made.key_id}`, admin)
    const { ticket } = await this.#json('POST', `/api/projects/${this.#project.id}/ticket`)
    await this.#firstEvent(`/api/events?after=0&token=${ticket}`)
    await this.#json('PUT', `/api/projects/${project_id}`, { ...admin, body: { biz_ids: [77] } })
    await this.#json('GET', `/api/projects/${project_id}`, admin)
    await this.#ask('DELETE', `/api/projects/${project_id}`, admin)
    await this.#sessions()
    for (const path of [
      '/api/session',
      '/.well-known/wharf-keys',
      '/api/sign-in',
      '/api/overview',
      '/api/overview/history?range=1h',
      '/api/overview/history?range=30d',
      '/api/overview/attention',
      '/api/overview/health',
      '/api/audit?after=0',
      `/api/audit?before=${Number.MAX_SAFE_INTEGER}`,
      `/api/audit?before=${Number.MAX_SAFE_INTEGER}&actor=nobody`,
      '/api/audit?actor=admin',
      '/api/audit?action=key.created',
      '/livez',
      '/readyz',
      '/metrics',
    ])
      await (await this.#ask('GET', path, admin)).text()
  }
}
