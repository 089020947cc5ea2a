import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../../src/carriers/swarm/agent/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { agentOptions } from '../../support/agents.ts'
import { availableBackends, openBackend, silentLog } from '../../support/backends.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { serveWharf, skewedBy, temporaryFolder } from '../../support/wharf-process.ts'

const NAME = 'postgres + redis'
const HOUR = 3_600_000

test.runIf(availableBackends().includes(NAME)).each([HOUR, -HOUR])(
  'an agent takes the orders of all instances, though the clock of one is wrong by %d ms',
  async (skewMs) => {
    const backend = await openBackend(NAME)
    onTestFinished(() => backend.remove())
    const env = {
      ...backend.env,
      WHARF_SHARED_DIR: temporaryFolder(),
      WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
      WHARF_SEAL_KEY: randomBytes(32).toString('base64'),
      COLLECT_WINDOW_SECONDS: '1',
    }
    const [right, wrong] = [
      await serveWharf({ ...env, WHARF_DATA_DIR: temporaryFolder() }),
      await serveWharf({ ...env, WHARF_DATA_DIR: temporaryFolder(), ...skewedBy(skewMs) }),
    ]
    const root = temporaryFolder()
    const agent = new Agent(
      { clock: systemClock, log: silentLog },
      await agentOptions(wrong.address, 'host', root),
    )
    await agent.start()
    onTestFinished(() => agent.stop())
    const ask = async (key: string, method: string, path: string, body: object | Buffer | undefined) => {
      const answer = await fetch(right.address + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && !Buffer.isBuffer(body) && { 'content-type': 'application/json' }),
        },
        ...(body && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
      })
      return (await answer.json()) as Record<string, string>
    }
    const key = (await ask(ADMIN_TOKEN, 'POST', '/api/projects', { name: 'p' })).api_key ?? ''
    // Each is a delivery of its own, and either instance may carry it out.
    const deliver = async (file_name: string) => {
      const content = randomBytes(50_000)
      await ask(key, 'PUT', `/api/repository/${file_name}`, content)
      const { task_id = '' } = await ask(key, 'POST', '/api/transfers', {
        ...{ biz_id: 1, app_id: 1, file_path: '/', file_name },
        file_signature: createHash('sha256').update(content).digest('hex'),
        ...{ target_agent_id: 'host', target_file_dir: root },
      })
      const ended = await until(
        `${file_name} has arrived`,
        () => ask(key, 'GET', `/api/transfers/${encodeURIComponent(task_id)}`, undefined),
        ({ status = '' }) => ['Success', 'Failed', 'Timeout'].includes(status),
      )
      expect(ended).toMatchObject({ status: 'Success' })
      expect(readFileSync(join(root, file_name)).equals(content)).toBe(true)
    }
    await Promise.all(Array.from({ length: 6 }, (_, index) => deliver(`${index}.bin`)))
  },
)
