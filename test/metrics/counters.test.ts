import { describe, expect, test } from 'vitest'
import { processMetrics } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { startExports } from '../support/export-client.ts'
import { Scrape } from '../support/metrics.ts'
import { rowOf } from '../support/recording-engine.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../support/swarm.ts'
import { bytes, CONTENT, request, runDue, setupTransfers } from '../support/transfers.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const { signal } = new AbortController()
const scrape = async () => new Scrape(await processMetrics.metrics())

describe.each(availableBackends())('on %s', (name) => {
  test('bytes count as delivered once for each target that has them', async () => {
    const { first, carrier, clock, projectId } = await setupTransfers(name)
    const before = await scrape()
    carrier.answer = ({ targets }) => ({
      uploadError: null,
      targets: targets.map((target) => rowOf(target, target.agentId === 'b' ? 117 : 0)),
    })
    await first.transfers.putFile(projectId, 'release/v1/app.bin', bytes(), signal)
    for (const id of ['a', 'b', 'c'])
      await first.transfers.request(projectId, request({ target_agent_id: id }))
    await clock.move(15_000)
    await runDue(first)
    const after = await scrape()
    const more = (metric: string, labels = {}) => after.sum(metric, labels) - before.sum(metric, labels)
    expect([
      more('wharf_transfer_delivered_bytes_total'),
      more('wharf_read_bytes_total', { domain: 'transfers' }),
      more('wharf_tasks_accepted_total', { kind: 'transfer' }),
      more('wharf_jobs_accepted_total', { kind: 'transfer' }),
    ]).toEqual([2 * CONTENT.length, CONTENT.length, 3, 1])
  })

  test('a job that another worker has taken over counts as a lost lease', async () => {
    const { wharf, business, client } = await startExports(name)
    const lost = async () => (await scrape()).sum('wharf_leases_lost_total', { kind: 'export' })
    const before = await lost()
    const source = business.source({ total: 5 })
    source.holdFrom(0)
    await client.start({ source_url: source.url })
    await source.untilHeld()
    await wharf.ledger.db.updateTable('jobs').set({ fence: 99 }).where('state', '=', 'running').execute()
    await wharf.engine.worker.runOnce()
    await until('it is counted', async () => (await lost()) === before + 1)
    source.release()
  })
})

test('agents and what is sent to them are told while they are there', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const agents = await Promise.all(['a', 'b'].map((id) => swarm.agent(server, id)))
  await untilConnected(server.engine, 2)
  expect((await scrape()).sum('wharf_agents')).toBe(2)
  const { path, size, signature } = swarm.file(MIB)
  const order = { projectId: 'p1', localPath: path, fileName: 'file.bin', size, signature }
  const targets = targetsFor(agents)
  const { engineTaskId } = await server.engine.start({ ...order, targets, timeoutSeconds: 3600 }, signal)
  await untilOver(server.engine, engineTaskId)
  expect((await scrape()).sum('wharf_transfer_egress_bytes_total')).toBe(server.engine.egress.pieces)
  await server.close()
  expect((await scrape()).sum('wharf_agents')).toBe(0)
})
