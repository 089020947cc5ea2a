import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends, type Backend, openBackend } from '../support/backends.ts'
import { startGse } from '../support/gse-server.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const CONTENT = Buffer.from('survives its server\n')
const SIGNATURE = createHash('sha256').update(CONTENT).digest('hex')

describe.each(availableBackends())('a killed server on %s', (name) => {
  async function setup() {
    const backend = await openBackend(name)
    onTestFinished(() => backend.remove())
    const gse = await startGse(temporaryFolder())
    onTestFinished(() => gse.close())
    return { backend, gse }
  }

  const serve = (backend: Backend, endpoint: string, dataDir: string) =>
    serveWharf({
      ...backend.env,
      // Instances have a data dir each; alone, the server comes back to what it left.
      WHARF_DATA_DIR: dataDir,
      WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
      WHARF_LEASE_SECONDS: '6',
      WHARF_LOG_LEVEL: 'error',
      TRANSFER_ENGINE: 'gse',
      GSE_ENDPOINT: endpoint,
      GSE_APP_CODE: 'wharf',
      GSE_APP_SECRET: 'secret',
      GSE_AGENT_ID: 'server',
      COLLECT_WINDOW_SECONDS: '1',
    })

  async function ask<T>(url: string, key: string, method = 'GET', body?: string | object): Promise<T> {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(typeof body === 'object' && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return (await answer.json()) as T
  }

  test('its delivery goes on elsewhere with the same engine task', async () => {
    const { backend, gse } = await setup()
    const dataDir = temporaryFolder()
    const first = await serve(backend, gse.endpoint, dataDir)
    const { api_key } = await ask<{ api_key: string }>(`${first.address}/api/projects`, ADMIN_TOKEN, 'POST', {
      name: 'p',
    })
    await ask(`${first.address}/api/repository/f.bin`, api_key, 'PUT', CONTENT.toString())
    Object.assign(gse.script.after, { 'b:': 1e9 })
    const tasks = await Promise.all(
      ['a', 'b'].map((agent) =>
        ask<{ task_id: string; job_id: string }>(`${first.address}/api/transfers`, api_key, 'POST', {
          biz_id: 1,
          app_id: 1,
          file_path: '/',
          file_name: 'f.bin',
          file_signature: SIGNATURE,
          target_agent_id: agent,
          target_file_dir: '/opt',
        }),
      ),
    )
    const status = async (address: string, index: number) =>
      (
        await ask<{ status: string }>(
          `${address}/api/transfers/${encodeURIComponent(tasks[index]!.task_id)}`,
          api_key,
        )
      ).status
    const reaches = (address: string, index: number, wanted: string) =>
      until(
        `target ${index} is ${wanted}`,
        () => status(address, index),
        (seen) => seen === wanted,
      )
    await reaches(first.address, 0, 'Success')
    await reaches(first.address, 1, 'Running')
    // The two are one delivery, or two if a window closed between them. Once its result is asked for, its id is kept.
    const startedBefore = new Set(tasks.map(({ job_id }) => job_id)).size
    await until('every delivery is followed', () => {
      const followed = [...gse.tasks.values()].filter(({ asked }) => asked > 0)
      return followed.length === startedBefore
    })
    first.child.kill('SIGKILL')
    await first.exited
    const second = await serve(backend, gse.endpoint, backend.shared ? temporaryFolder() : dataDir)
    gse.script.after = {}
    await reaches(second.address, 1, 'Success')
    expect(await status(second.address, 0)).toBe('Success')
    expect(gse.tasks.size).toBe(startedBefore)
    for (const agent of ['a', 'b'])
      expect(readFileSync(gse.placeOf(agent, '', '/opt/f.bin')).equals(CONTENT)).toBe(true)
  })
})
