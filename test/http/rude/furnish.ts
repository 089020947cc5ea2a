import { randomUUID } from 'node:crypto'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { enroll, inviteAgent } from '../../support/agents.ts'
import { type Ask, newProject } from '../../support/http.ts'
import { startSource } from '../../support/source-server.ts'
import { until } from '../../support/until.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'
import type { Fill } from './requests.ts'
import type { RudeServer } from './rude-server.ts'

const FILE_ROWS = 60_000
const UPLOAD_BYTES = 256 * 1024
/** Nobody listens there, and nobody is asked before an export or a test of it. */
const DATABASE = 'postgres://nobody@127.0.0.1:1/nothing'

export function uploadHeaders(method: string): Record<string, string> {
  const more = { POST: { 'Upload-Length': `${UPLOAD_BYTES}` }, PATCH: { 'Upload-Offset': '0' } }[method]
  const type = method === 'PATCH' ? { 'Content-Type': 'application/offset+octet-stream' } : {}
  return { 'Tus-Resumable': '1.0.0', ...more, ...type }
}

/** A command for processing that takes as long for what begins with this letter as it is held. */
export function holdable(letter: string) {
  const folder = temporaryFolder()
  const [script, held] = [join(folder, 'run.sh'), join(folder, 'held')]
  const wait = `while [ -e ${held} ]; do sleep 0.2; done`
  writeFileSync(script, `#!/bin/sh\n[ "$(head -c 1 "$1")" != ${letter} ] || ${wait}\ncp "$1" "$2"\n`)
  chmodSync(script, 0o755)
  return {
    command: `${script} {input} {output}`,
    hold: () => writeFileSync(held, ''),
    release: () => rmSync(held, { force: true }),
  }
}

/** A source that can be told to keep everybody waiting. */
async function holdableSource() {
  const waiting: ServerResponse[] = []
  let held = false
  const url = await startSource(({ response }) => {
    if (!held) return { total: 0, data: [] }
    waiting.push(response)
  })
  return {
    url,
    hold: () => {
      held = true
    },
    release: () => {
      held = false
      for (const response of waiting.splice(0)) response.end('{"total": 0, "data": []}')
    },
  }
}

/**
 * Something of everything that a route can name. What a request ends or uses up is made anew each time, and kept from
 * ending by itself between `hold` and `release`.
 */
export async function furnish(server: RudeServer) {
  const { address, client, commands } = server
  const { key, id: project } = client.project
  const source = await holdableSource()
  const ask = async <T>(method: string, path: string, more: Ask = { key }) => {
    const answer = await server.ask(method, path, more)
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return { answer, ...((await answer.json().catch(() => ({}))) as T) }
  }
  const upload = async () => {
    const { answer } = await ask('POST', '/api/uploads', { key, headers: uploadHeaders('POST') })
    return answer.headers.get('location')?.split('/').at(-1) ?? ''
  }
  const task = async (letter: string) => {
    const id = await upload()
    await fetch(`${address}/api/uploads/${id}`, {
      method: 'PATCH',
      headers: { ...uploadHeaders('PATCH'), authorization: `Bearer ${key}` },
      body: Buffer.alloc(UPLOAD_BYTES, letter),
    })
    return id
  }
  /** One whose feed has a file, which was fetched. */
  const accountWithFile = async () => {
    const handle = `h${randomUUID()}`
    const url = await startSource(({ request }) =>
      request.url === '/one' ? { a: 1 } : { items: [{ id: 'one', url: '/one' }], next_cursor: null },
    )
    await ask('PUT', `/api/accounts/${handle}`, { body: { url } })
    await ask('POST', '/api/runs', { body: { handle, kind: 'start' } })
    await until(
      'it is fetched',
      async () => (await server.ask('GET', `/api/accounts/${handle}/files/one`)).ok,
    )
    return handle
  }
  const account = async () => {
    const handle = `h${randomUUID()}`
    await ask('PUT', `/api/accounts/${handle}`, { body: { url: source.url } })
    return handle
  }
  const endedTask = async () => {
    const id = await task('h')
    await until('there is a task', async () => (await server.ask('DELETE', `/api/tasks/${id}`)).ok)
    return id
  }
  const agent = async (container: string) => {
    const id = `a${randomUUID()}`
    await enroll(address, { id, container, token: await inviteAgent(address, id, { container }) })
    return id
  }
  const exported = async () => (await client.start({ source_url: source.url, fresh: true })).task_id
  const cancelled = async () => {
    const id = await exported()
    await ask('DELETE', `/api/exports/${id}`)
    await until('it is cancelled', async () => (await client.task(id)).status === 'cancelled')
    return id
  }
  const connection = async () => {
    const name = `c${randomUUID()}`
    const body = { driver: 'postgres', url: DATABASE, projects: [] }
    await ask('PUT', `/api/connections/${name}`, { body })
    return name
  }
  const template = async () => {
    const name = `t${randomUUID()}`
    await ask('PUT', `/api/templates/${name}`, { key, body: { template: { id: 'Id' } } })
    return name
  }
  const session = async () => {
    const more = { body: { key }, headers: { origin: address } }
    return (await ask<{ session_id: string }>('POST', '/api/session', more)).session_id
  }
  const saved = async () => {
    const name = `s${randomUUID()}`
    await ask('PUT', `/api/saved-exports/${name}`, { key, body: { source_url: source.url, fresh: true } })
    return name
  }
  const spare = await newProject(server)
  const keyId = async () => {
    const body = { name: randomUUID(), scopes: ['read'] }
    return (await ask<{ key_id: string }>('POST', `/api/projects/${spare.id}/keys`, { body })).key_id
  }

  const finished = await client.run({ source_url: `${address}/samples/orders?rows=${FILE_ROWS}` })
  // Made now: while the source is held there is no place for others.
  const small = { source_url: `${address}/samples/orders?rows=10`, fresh: true }
  const files = (await Promise.all(Array.from({ length: 30 }, () => client.run(small)))).map(
    (one) => one.task_id,
  )
  const kept = await client.run({ ...small, keep_rows_hours: 1 })
  const told = await client.run({ ...small, callback: `${address}/samples/orders` })
  const processed = await task('x')
  const { run_id } = await ask<{ run_id: string }>('POST', '/api/runs', {
    body: { handle: await account(), kind: 'start' },
  })
  const file = await ask<{ signature: string }>('PUT', '/api/repository/steady/file', { key, body: 'bytes' })
  const transfer = {
    biz_id: 7,
    app_id: 1,
    file_path: '/steady',
    file_name: 'file',
    file_signature: file.signature,
    target_agent_id: 'rude',
    target_file_dir: '/rude',
  }
  const carried = await ask<{ task_id: string; job_id: string }>('POST', '/api/transfers', {
    key,
    body: transfer,
  })
  /** Of a project of its own: requests that change the other one may take its agents away. */
  const stoppedTransfer = async () => {
    const other = await newProject(server)
    await ask('PUT', '/api/repository/steady/file', { key: other.key, body: 'bytes' })
    const body = { ...transfer, biz_id: 8 }
    const { job_id } = await ask<{ job_id: string }>('POST', '/api/transfers', { key: other.key, body })
    await ask('DELETE', `/api/transfer-jobs/${encodeURIComponent(job_id)}`, { key: other.key })
    return job_id
  }
  const stopped = await stoppedTransfer()
  const withFile = await accountWithFile()
  await until('there is a result', async () => (await server.ask('GET', `/api/tasks/${processed}/result`)).ok)

  const known: Record<string, unknown> = {
    ...transfer,
    project_id: project,
    source_url: `${address}/samples/orders?rows=10`,
    url: source.url,
    handle: await account(),
    name: await connection(),
    run_id,
    job_id: carried.job_id,
    path: 'rude/file',
  }
  const tasks: Record<string, string> = {
    exports: finished.task_id,
    tasks: processed,
    transfers: carried.task_id,
  }
  const fresh: Record<string, Record<string, () => unknown>> = {
    'DELETE /api/accounts/{handle}': { handle: account },
    'POST /api/runs': { handle: account },
    'POST /api/runs/bulk': { handles: async () => [await account()] },
    'GET /api/accounts/{handle}/files/{item_id}': { handle: () => withFile, item_id: () => 'one' },
    'POST /api/tasks/{task_id}/retry': { task_id: endedTask },
    'DELETE /api/tasks/{task_id}/record': { task_id: endedTask },
    'POST /api/transfer-jobs/{job_id}/redeliver': { job_id: () => stopped },
    'DELETE /api/agents/{agent_id}': { agent_id: () => agent('') },
    'DELETE /api/agents/{agent_id}/{container_id}': {
      agent_id: () => agent('rude'),
      container_id: () => 'rude',
    },
    'POST /api/exports/bulk': { ids: () => [tasks.exports] },
    'POST /api/exports/{task_id}/deliveries/resend': { task_id: () => told.task_id },
    'DELETE /api/exports/{task_id}': { task_id: exported },
    'DELETE /api/exports/{task_id}/file': { task_id: () => files.pop() ?? tasks.exports },
    'POST /api/exports/{task_id}/retry': { task_id: cancelled },
    'POST /api/exports/{task_id}/render': { task_id: () => kept.task_id },
    'POST /api/exports/{task_id}/run-again': { task_id: () => kept.task_id },
    'DELETE /api/tasks/{task_id}': { task_id: () => task('h') },
    'DELETE /api/connections/{name}': { name: connection },
    'PUT /api/connections/{name}': { url: () => DATABASE },
    'PUT /api/templates/{name}': { template: () => ({ id: 'Id' }) },
    'PUT /api/saved-exports/{name}': { name: randomUUID },
    'GET /api/saved-exports/{name}': { name: saved },
    'GET /api/saved-exports/{name}/runs': { name: saved },
    'POST /api/saved-exports/{name}/run': { name: saved },
    'DELETE /api/saved-exports/{name}': { name: saved },
    'GET /api/templates/{name}': { name: template },
    'DELETE /api/templates/{name}': { name: template },
    'POST /api/session': { key: () => key },
    'DELETE /api/sessions/{session_id}': { session_id: session },
    'POST /api/projects': { name: () => 'rude' },
    'POST /api/projects/{project_id}/keys': { name: randomUUID },
    'DELETE /api/projects/{project_id}/keys/{key_id}': { project_id: () => spare.id, key_id: keyId },
    'POST /api/projects/{project_id}/ticket': {},
  }
  const fill: Fill = (name, { method, path }) => {
    const own = fresh[`${method} ${path}`]
    if (own?.[name]) return own[name]()
    if (name === 'upload_id') return upload()
    // What ends a project or its keys is given one of its own.
    if (
      !own &&
      name === 'project_id' &&
      ['POST', 'DELETE'].includes(method) &&
      /^\/api\/projects\//.test(path)
    )
      return newProject(server).then(({ id }) => id)
    return name === 'task_id' ? tasks[path.split('/')[2] ?? ''] : known[name]
  }
  return {
    fill,
    hold() {
      source.hold()
      commands.hold()
    },
    release() {
      source.release()
      commands.release()
    },
  }
}
