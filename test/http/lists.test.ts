import { describe, expect, test } from 'vitest'
import { writeIdCursor } from '../../src/ledger/index.ts'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

interface Page {
  items: Record<string, unknown>[]
  next_cursor: string | null
}

describe.each(availableBackends())('lists over HTTP on %s', (name) => {
  async function setup(env: Record<string, string> = {}) {
    const wharf = await startHttp(name, { env })
    const [mine, theirs] = [await newProject(wharf), await newProject(wharf)]
    const page = async (path: string, key: string) => {
      const answer = await wharf.ask('GET', path, { key })
      return { status: answer.status, ...((await answer.json()) as Page) }
    }
    return { ...wharf, mine, theirs, page }
  }

  test('tasks: newest first, page by page, each project its own, the admin all', async () => {
    const { ask, mine, theirs, page } = await setup()
    const upload = async (key: string, fileName: string) => {
      const made = await ask('POST', '/api/uploads', {
        key,
        headers: {
          'tus-resumable': '1.0.0',
          'upload-length': '0',
          'upload-metadata': `filename ${Buffer.from(fileName).toString('base64')}`,
        },
      })
      expect(made.status).toBe(201)
    }
    for (const file of ['a.mov', 'b.mov', 'c.mov']) await upload(mine.key, file)
    await upload(theirs.key, 'd.mov')
    const names = ({ items }: Page) => items.map(({ file_name }) => file_name)
    const one = await page('/api/tasks?limit=2', mine.key)
    expect(names(one)).toEqual(['c.mov', 'b.mov'])
    expect(one.items[0]).toMatchObject({ status: 'PENDING', size: 0, result_url: null })
    const two = await page(`/api/tasks?limit=2&cursor=${one.next_cursor}`, mine.key)
    expect([names(two), two.next_cursor]).toEqual([['a.mov'], null])
    expect(names(await page('/api/tasks', theirs.key))).toEqual(['d.mov'])
    expect(names(await page('/api/tasks', ADMIN_TOKEN))).toEqual(['d.mov', 'c.mov', 'b.mov', 'a.mov'])
    expect(names(await page('/api/tasks?status=COMPLETED', mine.key))).toEqual([])
    expect((await page('/api/tasks?status=LOST', mine.key)).status).toBe(400)
  })

  test('tasks of uploads with an Idempotency-Key are in the order of creation, too', async () => {
    const { ask, ledger, mine, page } = await setup()
    const names: string[] = []
    for (const [index, key] of ['one', undefined, 'two', 'three', undefined, 'four'].entries()) {
      const started = await ledger.now()
      await until('the clock has moved on', async () => (await ledger.now()) > started)
      const made = await ask('POST', '/api/uploads', {
        key: mine.key,
        headers: {
          'tus-resumable': '1.0.0',
          'upload-length': '0',
          'upload-metadata': `filename ${Buffer.from(`${index}.mov`).toString('base64')}`,
          ...(key !== undefined && { 'idempotency-key': key }),
        },
      })
      expect(made.status).toBe(201)
      names.unshift(`${index}.mov`)
    }
    for (const key of [mine.key, ADMIN_TOKEN])
      for (const filter of ['', '&status=PENDING']) {
        const listed: unknown[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { items, next_cursor }: Page = await page(
            `/api/tasks?limit=4${filter}${cursor && `&cursor=${cursor}`}`,
            key,
          )
          listed.push(...items.map(({ file_name }) => file_name))
          cursor = next_cursor
        }
        expect(listed).toEqual(names)
      }
    const { domains } = (await (
      await ask('GET', '/api/overview/attention', { key: ADMIN_TOKEN })
    ).json()) as {
      domains: { processing: { waiting: { name: string }[] } }
    }
    expect(domains.processing.waiting.map(({ name }) => name)).toEqual(names.toReversed().slice(0, 5))
  })

  test('a cursor of a list of tasks by id is refused', async () => {
    const { mine, page } = await setup()
    expect((await page(`/api/tasks?cursor=${writeIdCursor(crypto.randomUUID())}`, mine.key)).status).toBe(400)
  })

  test('a ticket opens the result of its own task and nothing else', async () => {
    const { ask, mine } = await setup({ PROCESSOR_COMMAND: 'cp {input} {output}' })
    const made = await ask('POST', '/api/uploads', {
      key: mine.key,
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': 'filename YS5tb3Y=' },
    })
    const id = made.headers.get('location')?.split('/').at(-1) ?? ''
    await until('the task is done', async () => {
      const task = await ask('GET', `/api/tasks/${id}`, { key: mine.key })
      return ((await task.json()) as { status: string }).status === 'COMPLETED'
    })
    const given = await ask('POST', `/api/tasks/${id}/ticket`, { key: mine.key })
    const { ticket } = (await given.json()) as { ticket: string }
    const status = async (path: string) => (await ask('GET', `${path}?ticket=${ticket}`)).status
    expect(await status(`/api/tasks/${id}/result`)).toBe(200)
    expect(await status(`/api/tasks/${id}`)).toBe(401)
    expect((await ask('POST', `/api/tasks/${id}/ticket`, { key: ticket })).status).toBe(403)
    const other = await ask('POST', '/api/uploads', {
      key: mine.key,
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': 'filename YS5tb3Y=' },
    })
    const otherId = other.headers.get('location')?.split('/').at(-1) ?? ''
    expect(await status(`/api/tasks/${otherId}/result`)).toBe(404)
  })

  test('deliveries and files: each project its own', async () => {
    const { ask, address, mine, theirs, page } = await setup()
    const put = await fetch(`${address}/api/repository/release/app.bin`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${mine.key}` },
      body: 'what is delivered',
    })
    const { signature } = (await put.json()) as { signature: string }
    const asked = await ask('POST', '/api/transfers', {
      key: mine.key,
      body: {
        ...{ biz_id: 5, app_id: 6, file_path: '/release', file_name: 'app.bin', file_signature: signature },
        ...{ target_agent_id: 'a', target_file_dir: '/opt' },
      },
    })
    const { job_id } = (await asked.json()) as { job_id: string }
    expect((await page('/api/transfer-jobs', mine.key)).items).toMatchObject([
      { job_id, targets: { total: 1 } },
    ])
    expect((await page('/api/transfer-jobs', ADMIN_TOKEN)).items).toMatchObject([{ job_id }])
    expect((await page('/api/transfer-jobs', theirs.key)).items).toEqual([])
    expect((await page('/api/transfer-jobs?status=Success', mine.key)).items).toEqual([])
    expect((await page('/api/repository?prefix=rel', mine.key)).items).toMatchObject([
      { path: 'release/app.bin', size: 17, signature },
    ])
    expect((await page('/api/repository?prefix=app', mine.key)).items).toEqual([])
    expect((await page('/api/repository', theirs.key)).items).toEqual([])
    expect((await page('/api/repository', ADMIN_TOKEN)).status).toBe(403)
    for (const path of ['/api/repository', '/api/transfer-jobs', '/api/tasks'])
      expect((await page(`${path}?projectId=${mine.id}`, theirs.key)).status).toBe(400)
  })
})
