import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { Agent } from '../../src/transfers/agent/index.ts'
import { availableBackends, silentLog } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { AGENT_TOKEN, agentOptions } from '../support/swarm.ts'
import { until } from '../support/until.ts'

interface AgentAnswer {
  agent_id: string
  container_id: string
  connected_at: string
}

describe.each(availableBackends())('agents over HTTP on %s', (name) => {
  async function setup(ids: string[]) {
    const wharf = await startHttp(name, { env: { WHARF_AGENT_TOKEN: AGENT_TOKEN } })
    const root = mkdtempSync(join(tmpdir(), 'wharf-agents-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    for (const id of ids) {
      const options = { ...agentOptions(wharf.address, id, root), containerId: 'c1' }
      const agent = new Agent({ clock: systemClock, log: silentLog }, options)
      await agent.start()
      onTestFinished(() => agent.stop())
    }
    const list = async (key: string) =>
      (await (await wharf.ask('GET', '/api/agents', { key })).json()) as AgentAnswer[]
    await until('all are connected', async () => (await list(ADMIN_TOKEN)).length === ids.length)
    return { ...wharf, list }
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
})
