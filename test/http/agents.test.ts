import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { agentOptions } from '../support/agents.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { until } from '../support/until.ts'

interface AgentAnswer {
  agent_id: string
  container_id: string
  connected_at: string
  connected: boolean
}

describe.each(availableBackends())('agents over HTTP on %s', (name) => {
  async function setup(ids: string[]) {
    const wharf = await startHttp(name)
    const root = mkdtempSync(join(tmpdir(), 'wharf-agents-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    for (const id of ids) {
      const options = await agentOptions(wharf.address, id, root, { container: 'c1' })
      const agent = new Agent({ clock: systemClock, log: silentLog }, options)
      await agent.start()
      onTestFinished(() => agent.stop())
    }
    const list = async (key: string) =>
      (await (await wharf.ask('GET', '/api/agents', { key })).json()) as AgentAnswer[]
    await until(
      'all are connected',
      () => list(ADMIN_TOKEN),
      (found) => found.filter(({ connected }) => connected).length === ids.length,
    )
    return { ...wharf, root, list }
  }

  test('a project sees the connected agents that it may send to, the admin sees all', async () => {
    const wharf = await setup(['db-1', 'web-1', 'web-2'])
    const project = await newProject(wharf)
    expect((await wharf.list(project.key)).map(({ agent_id }) => agent_id)).toEqual([
      'db-1',
      'web-1',
      'web-2',
    ])
    const path = `/api/projects/${project.id}/agents`
    await wharf.ask('PUT', path, { key: ADMIN_TOKEN, body: { agents: ['web-*'] } })
    const seen = await wharf.list(project.key)
    expect(seen.map(({ agent_id, container_id }) => [agent_id, container_id])).toEqual([
      ['web-1', 'c1'],
      ['web-2', 'c1'],
    ])
    expect(Date.parse(seen[0]!.connected_at)).toBeGreaterThan(0)
    expect((await wharf.ask('GET', '/api/agents')).status).toBe(401)
  })

  test('an admin also sees who is enrolled and not connected, and when it was last seen; a project does not', async () => {
    const wharf = await setup(['web-1'])
    const { key } = await newProject(wharf)
    const options = await agentOptions(wharf.address, 'web-2', wharf.root, { container: 'c1' })
    const absent = { agent_id: 'web-2', container_id: 'c1', connected: false, host: '', connected_at: null }
    expect(await wharf.list(ADMIN_TOKEN)).toEqual([
      expect.objectContaining({ agent_id: 'web-1', connected: true, enrolled_at: expect.any(String) }),
      expect.objectContaining({ ...absent, version: '', seen_at: null, enrolled_at: expect.any(String) }),
    ])
    const agent = new Agent({ clock: systemClock, log: silentLog }, options)
    await agent.start()
    await until('it is connected', async () => (await wharf.list(key)).length === 2)
    await agent.stop()
    await until('it is gone', async () => (await wharf.list(key)).length === 1)
    const [, gone] = await until(
      'when it was last seen is known',
      () => wharf.list(ADMIN_TOKEN),
      (found) => found[1]?.connected === false,
    )
    expect(gone).toMatchObject({
      ...absent,
      version: expect.stringMatching(/./),
      seen_at: expect.any(String),
    })
    const revoked = await wharf.ask('DELETE', '/api/agents/web-2/c1', { key: ADMIN_TOKEN })
    expect(revoked.status).toBe(204)
    expect((await wharf.list(ADMIN_TOKEN)).map(({ agent_id }) => agent_id)).toEqual(['web-1'])
  })

  test('only an admin enrols and revokes agents; a revoked one is gone at once and stays out', async () => {
    const wharf = await setup(['web-1'])
    const project = await newProject(wharf)
    const enrolling = { agent_id: 'host', container_id: '' }
    for (const key of [project.key, undefined]) {
      const ask = { ...(key && { key }), body: enrolling }
      expect((await wharf.ask('POST', '/api/agents/enrollments', ask)).status).toBe(key ? 403 : 401)
      expect((await wharf.ask('DELETE', '/api/agents/web-1/c1', key ? { key } : {})).status).toBe(
        key ? 403 : 401,
      )
    }
    const made = await wharf.ask('POST', '/api/agents/enrollments', { key: ADMIN_TOKEN, body: enrolling })
    expect(made.status).toBe(201)
    expect(await made.json()).toEqual({
      token: expect.stringMatching(/^wae_/),
      expires_at: expect.any(String),
    })
    for (const body of [
      {},
      { agent_id: '' },
      { agent_id: 'a\u0000' },
      { agent_id: 7 },
      { agent_id: 'a', more: 1 },
    ])
      expect((await wharf.ask('POST', '/api/agents/enrollments', { key: ADMIN_TOKEN, body })).status).toBe(
        400,
      )

    const revoke = (path: string) => wharf.ask('DELETE', path, { key: ADMIN_TOKEN })
    expect((await revoke('/api/agents/web-1/c2')).status).toBe(404)
    expect((await revoke('/api/agents/web-1/c1')).status).toBe(204)
    await until('it is gone', async () => (await wharf.list(ADMIN_TOKEN)).length === 0)
    expect((await revoke('/api/agents/web-1/c1')).status).toBe(404)
    await agentOptions(wharf.address, 'host', '/')
    expect((await revoke('/api/agents/host/')).status).toBe(204)
  })
})
