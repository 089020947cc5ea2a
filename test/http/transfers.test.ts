import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../src/kernel/index.ts'
import { DiskStore } from '../../src/storage/index.ts'
import { availableBackends } from '../support/backends.ts'
import { startGse } from '../support/gse-server.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

interface Accepted {
  task_id: string
  job_id: string
}

interface JobAnswer {
  status: string
  success_targets: Record<string, { error_code: number }>
  failed_targets: Record<string, { error_code: number; error_msg: string }>
}

describe.each(availableBackends())('transfers over HTTP on %s', (name) => {
  async function setup() {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-gse-'))
    const gse = await startGse(folder)
    onTestFinished(async () => {
      await gse.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const wharf = await startHttp(name, {
      env: {
        TRANSFER_ENGINE: 'gse',
        GSE_ENDPOINT: gse.endpoint,
        GSE_APP_CODE: 'wharf',
        GSE_APP_SECRET: 'secret',
        GSE_AGENT_ID: 'server',
        COLLECT_WINDOW_SECONDS: '1',
        WHARF_REPOSITORY_MAX_BYTES: '4000000',
      },
    })
    const project = await newProject(wharf)
    const put = async (path: string, body: Buffer, type = 'application/octet-stream') => {
      const answer = await fetch(`${wharf.address}/api/repository/${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${project.key}`, 'content-type': type },
        body: new Uint8Array(body),
      })
      return { status: answer.status, file: (await answer.json()) as Record<string, unknown> }
    }
    const transfer = (more: object, headers: Record<string, string> = {}) =>
      wharf.ask('POST', '/api/transfers', {
        key: project.key,
        headers,
        body: { biz_id: 5, app_id: 6, target_agent_id: 'a', target_file_dir: '/opt', ...more },
      })
    const get = async <T>(path: string): Promise<T> =>
      (await (await wharf.ask('GET', path, { key: project.key })).json()) as T
    const ended = (jobId: string) =>
      until('the job has ended', async () => {
        const job = await get<JobAnswer>(`/api/transfer-jobs/${encodeURIComponent(jobId)}`)
        return ['Success', 'Failed', 'Timeout'].includes(job.status) && job
      })
    const store = await DiskStore.open(
      { clock: systemClock },
      { root: join(wharf.config.WHARF_DATA_DIR, 'files') },
    )
    return { ...wharf, gse, project, store, put, transfer, get, ended }
  }

  test('a file goes from the repository to its targets, byte by byte', async () => {
    const { gse, put, transfer, get, ended } = await setup()
    const content = randomBytes(3_000_000)
    const signature = createHash('sha256').update(content).digest('hex')
    // Not parsed and not limited like a body of JSON, whatever it calls itself.
    const { status, file } = await put('%E5%8F%91%E5%B8%83/app%201.bin', content, 'application/json')
    expect(status).toBe(200)
    expect(file).toEqual({ path: '发布/app 1.bin', size: content.length, signature })
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((id) =>
        transfer({
          file_path: '/发布',
          file_name: 'app 1.bin',
          file_signature: signature,
          target_agent_id: id,
          target_user: 'root',
        }),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual([202, 202, 202])
    const accepted = (await Promise.all(answers.map((answer) => answer.json()))) as Accepted[]
    for (const { task_id, job_id } of accepted) {
      expect((await ended(job_id)).status).toBe('Success')
      const task = await get<Record<string, unknown>>(`/api/transfers/${encodeURIComponent(task_id)}`)
      expect(task).toMatchObject({ task_id, job_id, status: 'Success', error_code: 0 })
    }
    for (const id of ['a', 'b', 'c']) {
      const arrived = readFileSync(gse.placeOf(id, '', '/opt/app 1.bin'))
      expect(createHash('sha256').update(arrived).digest('hex')).toBe(signature)
    }
  })

  test('a finished export can be delivered', async () => {
    const { gse, address, project, ask, transfer, get, ended } = await setup()
    const asked = await ask('POST', '/api/exports', {
      key: project.key,
      body: { source_url: `${address}/samples/orders?rows=20`, file_name: 'orders.csv' },
    })
    const { task_id } = (await asked.json()) as { task_id: string }
    const early = await transfer({ export_task_id: task_id })
    if (early.status !== 202) expect(await early.json()).toMatchObject({ code: 'EXPORT_NOT_READY' })
    const task = await until('the export is done', async () => {
      const view = await get<{ status: string; file: { sha256: string } }>(`/api/exports/${task_id}`)
      return view.status === 'succeeded' && view
    })
    const answer = await transfer({ export_task_id: task_id, target_agent_id: 'x' })
    const { job_id } = (await answer.json()) as Accepted
    expect(job_id).toContain(`:/exports/${task_id}/orders.csv:`)
    expect((await ended(job_id)).status).toBe('Success')
    const arrived = readFileSync(gse.placeOf('x', '', '/opt/orders.csv'))
    expect(createHash('sha256').update(arrived).digest('hex')).toBe(task.file.sha256)
  })

  test('whoever listens to a task hears how it stands and how it ends', async () => {
    const { address, project, put, transfer } = await setup()
    const { file } = await put('f.bin', Buffer.from('x'))
    const asked = await transfer({ file_path: '/', file_name: 'f.bin', file_signature: file.signature })
    const { task_id } = (await asked.json()) as Accepted
    const url = `${address.replace('http', 'ws')}/ws?task_id=${encodeURIComponent(task_id)}`
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${project.key}` } })
    onTestFinished(() => socket.terminate())
    const heard: Record<string, unknown>[] = []
    socket.on('message', (data) => heard.push(JSON.parse(String(data)) as Record<string, unknown>))
    await until('the end is heard', () => heard.at(-1)?.status === 'Success')
    expect(heard.every((message) => message.task_id === task_id)).toBe(true)
    expect(heard.at(-1)).toMatchObject({ type: 'transfer.success' })
  })

  test('the same idempotency key joins once', async () => {
    const { put, transfer } = await setup()
    const { file } = await put('f.bin', Buffer.from('x'))
    const body = { file_path: '/', file_name: 'f.bin', file_signature: file.signature }
    const first = await transfer(body, { 'idempotency-key': 'k1' })
    const again = await transfer(body, { 'idempotency-key': 'k1' })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await again.json()).toEqual(await first.json())
  })

  test('one project neither uses nor sees what is another’s', async () => {
    const wharf = await setup()
    const { put, transfer, ask } = wharf
    const { file } = await put('f.bin', Buffer.from('x'))
    const body = { file_path: '/', file_name: 'f.bin', file_signature: file.signature }
    const { task_id, job_id } = (await (await transfer(body)).json()) as Accepted
    const other = await newProject(wharf)
    const use = await ask('POST', '/api/transfers', {
      key: other.key,
      body: { ...body, biz_id: 5, app_id: 6, target_agent_id: 'a', target_file_dir: '/opt' },
    })
    expect(use.status).toBe(403)
    for (const path of [
      `/api/transfers/${encodeURIComponent(task_id)}`,
      `/api/transfer-jobs/${encodeURIComponent(job_id)}`,
    ])
      expect((await ask('GET', path, { key: other.key })).status).toBe(404)
    // The other project's own business does not open this one's files to it.
    const theirs = await ask('POST', '/api/transfers', {
      key: other.key,
      body: { ...body, biz_id: 50, app_id: 6, target_agent_id: 'a', target_file_dir: '/opt' },
    })
    const stolen = (await theirs.json()) as Accepted
    const job = await until('the job has ended', async () => {
      const answer = await ask('GET', `/api/transfer-jobs/${encodeURIComponent(stolen.job_id)}`, {
        key: other.key,
      })
      const view = (await answer.json()) as JobAnswer
      return view.status === 'Failed' && view
    })
    expect(job.failed_targets['a:']?.error_code).toBe(2001)
  })

  test('what is malformed is refused with a code', async () => {
    const { put, transfer, ask, project } = await setup()
    expect((await put('a%2f..%2fb', Buffer.from('x'))).file).toMatchObject({
      code: 'REPOSITORY_PATH_INVALID',
    })
    const bad = await transfer({ file_path: '/', file_name: 'f', file_signature: 'xyz' })
    expect(await bad.json()).toMatchObject({ code: 'REQUEST_INVALID', status: 400 })
    const none = await transfer({})
    expect(none.status).toBe(400)
    const up = await transfer({ file_path: '/..', file_name: 'f', file_signature: 'a'.repeat(64) })
    expect(await up.json()).toMatchObject({ code: 'REPOSITORY_PATH_INVALID' })
    const admin = await ask('POST', '/api/transfers', { key: ADMIN_TOKEN, body: {} })
    expect([400, 403]).toContain(admin.status)
    for (const path of ['/api/transfers/nonsense', '/api/transfer-jobs/AsyncDownloadJob%3A1%3A2%3Ax%3A3'])
      expect((await ask('GET', path, { key: project.key })).status).toBe(404)
  })

  test('a file that is too large is refused with an answer, and nothing of it stays', async () => {
    const { put, project, store } = await setup()
    const { status, file } = await put('large.bin', Buffer.alloc(4_000_001))
    expect([status, file.code]).toEqual([413, 'BODY_TOO_LARGE'])
    const left = []
    for await (const { key } of store.list(`repository/${project.id}/`)) left.push(key)
    expect(left).toEqual([])
  })

  test('a project with an open window is not deleted', async () => {
    const { put, transfer, ask, project, ended } = await setup()
    const { file } = await put('f.bin', Buffer.from('x'))
    const asked = await transfer({ file_path: '/', file_name: 'f.bin', file_signature: file.signature })
    const { job_id } = (await asked.json()) as Accepted
    const busy = await ask('DELETE', `/api/projects/${project.id}`, { key: ADMIN_TOKEN })
    expect(await busy.json()).toMatchObject({ code: 'PROJECT_BUSY' })
    await ended(job_id)
    await until('nothing is left to do', async () => {
      const gone = await ask('DELETE', `/api/projects/${project.id}`, { key: ADMIN_TOKEN })
      return gone.status === 204
    })
  })

  test('the admin says which agents a project may send to', async () => {
    const { put, transfer, ask, project } = await setup()
    const { file } = await put('f.bin', Buffer.from(''))
    const path = `/api/projects/${project.id}/agents`
    expect((await ask('PUT', path, { key: project.key, body: { agents: null } })).status).toBe(403)
    expect((await ask('PUT', path, { key: ADMIN_TOKEN, body: { agents: ['web-*'] } })).status).toBe(200)
    const body = { file_path: '/', file_name: 'f.bin', file_signature: file.signature }
    expect(await (await transfer(body)).json()).toMatchObject({ code: 'AGENT_NOT_ALLOWED' })
    expect((await transfer({ ...body, target_agent_id: 'web-1' })).status).toBe(202)
  })
})
