import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { openSqliteLedger } from '../../../src/ledger/sqlite/open-sqlite.ts'
import { agentOptions } from '../../support/agents.ts'
import { silentLog } from '../../support/backends.ts'
import { Front, portOf } from '../../support/front.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { sha256sum } from '../../support/sha256sum.ts'
import { until } from '../../support/until.ts'
import { serveWharf, temporaryFolder } from '../../support/wharf-process.ts'

const AGENTS = 20
const CONTENT = randomBytes(8 * 1024 * 1024 + 5)
const SIGNATURE = createHash('sha256').update(CONTENT).digest('hex')

interface TaskAnswer {
  task_id: string
  status: string
  progress: { percent: number }
}

async function setup() {
  const front = await Front.open()
  onTestFinished(() => front.close())
  const dataDir = temporaryFolder()
  const serve = async () => {
    const server = await serveWharf({
      WHARF_DATA_DIR: dataDir,
      WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
      WHARF_LOG_LEVEL: 'error',
      WHARF_RATE_LIMIT: '10000/s',
      COLLECT_WINDOW_SECONDS: '2',
    })
    front.to = portOf(server.address)
    return server
  }
  const folder = temporaryFolder()
  const agents = Array.from({ length: AGENTS }, (_, at) => {
    const id = `agent-${at}`
    return { id, root: join(folder, id) }
  })
  const startAgents = async () => {
    for (const { id, root } of agents) {
      mkdirSync(root)
      // A limit keeps the transfer under way long enough to disturb it.
      const options = { ...(await agentOptions(front.url, id, root)), downloadLimit: 1_000_000 }
      const agent = new Agent({ clock: systemClock, log: silentLog }, options)
      await agent.start()
      onTestFinished(() => agent.stop())
    }
  }
  const ask = async <T>(key: string, method: string, path: string, body?: object | Uint8Array) => {
    const answer = await fetch(`${front.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) }),
    })
    return (await answer.json()) as T
  }
  const unfinishedJobs = async () => {
    const ledger = openSqliteLedger(dataDir, systemClock)
    const open = await ledger.db.selectFrom('jobs').select('id').where('finished_at', 'is', null).execute()
    await ledger.close()
    return open.length
  }
  return { serve, agents, startAgents, ask, unfinishedJobs }
}

test('a server that is killed in the middle of a delivery to 20 agents goes on with it when it is back', async () => {
  const { serve, agents, startAgents, ask, unfinishedJobs } = await setup()
  const first = await serve()
  await startAgents()
  const { api_key: key } = await ask<{ api_key: string }>(ADMIN_TOKEN, 'POST', '/api/projects', { name: 'p' })
  await ask(key, 'PUT', '/api/repository/release/app.bin', CONTENT)
  await until(
    'all agents are connected',
    () => ask<object[]>(key, 'GET', '/api/agents'),
    ({ length }) => length === AGENTS,
  )
  const accepted = await Promise.all(
    agents.map(({ id, root }) =>
      ask<TaskAnswer>(key, 'POST', '/api/transfers', {
        biz_id: 1,
        app_id: 1,
        file_path: '/release',
        file_name: 'app.bin',
        file_signature: SIGNATURE,
        target_agent_id: id,
        target_file_dir: join(root, 'in'),
      }),
    ),
  )
  const tasks = () =>
    Promise.all(
      accepted.map(({ task_id }) =>
        ask<TaskAnswer>(key, 'GET', `/api/transfers/${encodeURIComponent(task_id)}`),
      ),
    )
  await until('some of the file is with some of the agents', tasks, (all) =>
    all.some(({ status, progress }) => status === 'Running' && progress.percent > 5),
  )
  first.child.kill('SIGKILL')
  await first.exited
  expect(await unfinishedJobs(), 'the kill came in the middle').toBeGreaterThan(0)
  await serve()
  const ended = await until('every task has ended', tasks, (all) =>
    all.every(({ status }) => status !== 'Running'),
  )
  expect(ended.map(({ status }) => status)).toEqual(agents.map(() => 'Success'))
  for (const { root } of agents) {
    expect(sha256sum(join(root, 'in', 'app.bin'))).toBe(SIGNATURE)
    expect(readdirSync(join(root, 'in'))).toEqual(['app.bin'])
  }
})
