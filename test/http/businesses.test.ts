import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

describe.each(availableBackends())('businesses on %s', (name) => {
  test('an admin grants, lists and takes back a biz_id; other instances notice at once', async () => {
    const first = await startHttp(name)
    const other =
      name === 'embedded'
        ? first
        : await startHttp(name, { backend: first.backend, env: { WHARF_DATA_DIR: temporaryFolder() } })
    const [mine, theirs] = [await newProject(first), await newProject(first)]
    const send = async (wharf: typeof first, { key }: { key: string }, biz_id: number) => {
      const put = await wharf.ask('PUT', '/api/repository/a.txt', { key, body: 'a' })
      const { signature } = (await put.json()) as { signature: string }
      const file = { file_path: '/', file_name: 'a.txt', file_signature: signature }
      const target = { target_agent_id: 'a', target_file_dir: '/opt' }
      return (
        await wharf.ask('POST', '/api/transfers', { key, body: { biz_id, app_id: 1, ...file, ...target } })
      ).status
    }
    const grant = async ({ id }: { id: string }, biz_ids: unknown) => {
      const answer = await first.ask('PUT', `/api/projects/${id}`, { key: ADMIN_TOKEN, body: { biz_ids } })
      return { status: answer.status, body: await answer.json() }
    }
    const listed = async ({ id }: { id: string }) =>
      (await first.ask('GET', `/api/projects/${id}`, { key: ADMIN_TOKEN })).json()

    // The first use claims a free one.
    expect(await send(other, mine, 7)).toBe(202)
    expect(await send(other, theirs, 7)).toBe(403)
    expect(await listed(mine)).toMatchObject({ project_id: mine.id, biz_ids: [7] })
    // Moved: both instances remember the old owner, and must not rely on it.
    expect(await grant(theirs, [7, 9])).toMatchObject({ status: 200, body: { biz_ids: [7, 9] } })
    expect(await send(other, mine, 7)).toBe(403)
    expect(await send(other, theirs, 7)).toBe(202)
    expect(await send(other, mine, 9)).toBe(403)
    // Taken back: free again.
    expect(await grant(theirs, [])).toMatchObject({ body: { biz_ids: [] } })
    expect(await send(other, mine, 9)).toBe(202)
    expect(await send(other, theirs, 9)).toBe(403)
    expect((await grant(theirs, [-1])).status).toBe(400)
    expect((await grant({ id: 'nobody' }, [1])).status).toBe(404)
  })
})
