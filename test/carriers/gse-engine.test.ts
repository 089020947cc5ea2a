import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GseCarrier } from '../../src/carriers/gse/gse-carrier.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY } from '../../src/net/index.ts'
import { startGse } from '../support/gse-server.ts'
import { sha256sum } from '../support/sha256sum.ts'
import { FILE_NAME, transferEngineContract } from '../transfers/transfer-engine.contract.ts'

function openEngine(endpoint: string): GseCarrier {
  const http = new HttpClient({ guard: new AddressGuard(LOOPBACK_ONLY) })
  onTestFinished(() => http.close())
  return new GseCarrier(
    { http, clock: systemClock },
    {
      endpoint: `${endpoint}/`,
      appCode: 'wharf',
      appSecret: 's3cret',
      username: 'admin',
      tenantId: 'tenant-1',
      agentId: 'server-agent',
      containerId: '',
      agentUser: 'root',
    },
  )
}

transferEngineContract('GSE', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-gse-'))
  const gse = await startGse(folder)
  onTestFinished(async () => {
    await gse.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const content = Buffer.alloc(600_000, 'carried by an engine ')
  const signature = createHash('sha256').update(content).digest('hex')
  const localPath = join(folder, signature)
  writeFileSync(localPath, content)
  const target = (agentId: string, containerId = '') => ({
    agentId,
    containerId,
    user: '',
    directory: '/opt/app',
  })
  gse.script.after['silent:'] = Number.POSITIVE_INFINITY
  return {
    engine: openEngine(gse.endpoint),
    order: {
      projectId: 'p1',
      localPath,
      fileName: FILE_NAME,
      size: content.length,
      signature,
      targets: [target('a1'), target('a2', 'c1'), target('a3')],
      timeoutSeconds: 60,
    },
    silentTarget: target('silent'),
    deliveredTo: ({ agentId, containerId, directory }) => {
      const path = gse.placeOf(agentId, containerId, join(directory, FILE_NAME))
      return existsSync(path) ? sha256sum(path) : undefined
    },
    reopen: () => openEngine(gse.endpoint),
  }
})

describe('GSE on the wire', () => {
  async function setup() {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-gse-'))
    const gse = await startGse(folder)
    onTestFinished(async () => {
      await gse.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const localPath = join(folder, 'f00d')
    writeFileSync(localPath, 'x')
    const target = (agentId: string, more: object = {}) => ({
      agentId,
      containerId: '',
      user: 'root',
      directory: '/opt',
      ...more,
    })
    const order = (...targets: ReturnType<typeof target>[]) => ({
      projectId: 'p1',
      localPath,
      fileName: 'app.bin',
      size: 1,
      signature: 'f00d',
      targets,
      timeoutSeconds: 77,
    })
    const { signal } = new AbortController()
    return { ...gse, folder, engine: openEngine(gse.endpoint), target, order, signal }
  }

  test('sends one entry a directory and user, with credentials and tenant in the headers', async () => {
    const { engine, order, target, calls, folder, signal } = await setup()
    await engine.start(
      order(target('a'), target('b'), target('c', { user: 'www' }), target('a', { directory: '/srv' })),
      signal,
    )
    expect(calls[0]?.headers['x-bk-tenant-id']).toBe('tenant-1')
    expect(JSON.parse(String(calls[0]?.headers['x-bkapi-authorization']))).toEqual({
      bk_app_code: 'wharf',
      bk_app_secret: 's3cret',
      bk_username: 'admin',
    })
    const agent = (user: string, id: string) => ({ user, bk_agent_id: id, bk_container_id: '' })
    const source = { file_name: 'f00d', store_dir: folder, agent: agent('root', 'server-agent') }
    expect(calls[0]?.body).toEqual({
      timeout_seconds: 77,
      auto_mkdir: true,
      upload_speed: 0,
      download_speed: 0,
      tasks: [
        {
          source,
          target: {
            file_name: 'app.bin',
            store_dir: '/opt',
            agents: [agent('root', 'a'), agent('root', 'b')],
          },
        },
        { source, target: { file_name: 'app.bin', store_dir: '/opt', agents: [agent('www', 'c')] } },
        { source, target: { file_name: 'app.bin', store_dir: '/srv', agents: [agent('root', 'a')] } },
      ],
    })
  })

  test.each([false, true])(
    'reads codes, with their module’s number in front (%s) or not',
    async (longCodes) => {
      const { engine, order, target, script, signal } = await setup()
      Object.assign(script, { longCodes, codes: { 'a:': 117, 'b:': 126 }, after: { 'c:': 5 } })
      const { engineTaskId } = await engine.start(
        order(target('a'), target('b'), target('c'), target('d')),
        signal,
      )
      const { targets, uploadError } = await engine.result(engineTaskId, signal)
      expect(uploadError).toBeNull()
      expect(targets.map(({ agentId, errorCode }) => [agentId, errorCode])).toEqual([
        ['a', 117],
        ['b', 126],
        ['c', 115],
        ['d', 0],
      ])
    },
  )

  test('an upload that failed is the source’s error', async () => {
    const { engine, order, target, script, signal } = await setup()
    script.uploadCode = 119
    const { engineTaskId } = await engine.start(order(target('a')), signal)
    const { uploadError } = await engine.result(engineTaskId, signal)
    expect(uploadError).toEqual({ code: 119, message: 'code 119' })
  })

  test('a refusal is final and carries the code; a bad gateway is worth another try', async () => {
    const { engine, order, target, script, signal } = await setup()
    script.failures.push('refused', '500', 'html')
    await expect(engine.start(order(target('a')), signal)).rejects.toMatchObject({
      code: 'TRANSFER_ENGINE_REFUSED',
      retryable: false,
      details: { errorCode: 1017003 },
    })
    await expect(engine.start(order(target('a')), signal)).rejects.toMatchObject({ retryable: true })
    await expect(engine.start(order(target('a')), signal)).rejects.toMatchObject({
      code: 'TRANSFER_ENGINE_ANSWER',
      retryable: true,
    })
  })
})
