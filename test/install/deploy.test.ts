import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { nginxConfiguration, startCluster } from '../../scripts/cluster.ts'
import { SETTINGS } from '../../src/config.ts'
import type { ExportView } from '../../src/exports/index.ts'
import { openEvents } from '../support/event-readers.ts'
import { findBinary, requireBinary } from '../support/find-binary.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NGINX = requireBinary('nginx')
const services = ['postgres', 'redis-server'].every(findBinary)

/** An address that Wharf trusts there: it would ask who is before it, if nginx let it pass. */
const BORROWED = '127.0.0.9'

test.runIf(NGINX)('nginx takes deploy/nginx.conf without a warning', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'nginx.conf')
  const instances = ['http://127.0.0.1:81', 'http://127.0.0.1:82']
  writeFileSync(file, nginxConfiguration(folder, { port: 80, instances }))
  const checked = spawnSync(NGINX ?? '', ['-t', '-p', folder, '-c', file, '-e', 'stderr'], {
    encoding: 'utf8',
  })
  expect([checked.status, checked.stderr]).toEqual([
    0,
    expect.stringMatching(/syntax is ok[\s\S]*is successful/),
  ])
  expect(checked.stderr).not.toMatch(/\[(warn|error|emerg)\]/)
})

test.runIf(NGINX && services)(
  'npm run cluster: an export, its events and its file come through nginx, and no client chooses its address',
  async () => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.stop())
    const ask = async <T>(key: string, path: string, body?: object): Promise<T> => {
      const answer = await fetch(`${cluster.address}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${key}`,
          'x-forwarded-for': BORROWED,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      expect(answer.ok, await answer.clone().text()).toBe(true)
      return (await answer.json()) as T
    }
    const { api_key: key } = await ask<{ api_key: string }>(cluster.adminToken, '/api/projects', {
      name: 'shop',
    })
    const audit = await until('the project is in the audit log', async () => {
      const { items } = await ask<{ items: { action: string; address: string }[] }>(
        cluster.adminToken,
        '/api/audit',
      )
      return items.find(({ action }) => action === 'project.created')
    })
    expect(audit.address).toBe('127.0.0.1')
    const source_url = `${cluster.instances[0]}/samples/orders?rows=10`
    const { task_id } = await ask<ExportView>(key, '/api/exports', { source_url })
    const events = await openEvents(`${cluster.address}/api/events?after=0&task_id=${task_id}`, {
      authorization: `Bearer ${key}`,
    })
    await events.until('export.succeeded')
    const { download_url } = await until('the file is there', async () => {
      const view = await ask<ExportView>(key, `/api/exports/${task_id}`)
      return view.status === 'succeeded' ? view : undefined
    })
    expect(download_url).toMatch(new RegExp(`^${cluster.address}/`))
    const file = await fetch(download_url ?? '')
    expect((await file.text()).trim().split('\n')).toHaveLength(11)
  },
)

test('the unit allows what Node lists the addresses of the machine through', () => {
  const unit = readFileSync(join(ROOT, 'deploy/wharf.service'), 'utf8')
  const families = /^RestrictAddressFamilies=(.+)$/m.exec(unit)?.[1]?.split(' ')
  expect(families?.toSorted()).toEqual(['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX'])
})

const ANALYZE = requireBinary('systemd-analyze')

test.runIf(ANALYZE)('systemd takes the unit, finds little exposed, and waits for the drain', () => {
  const unit = join(ROOT, 'deploy/wharf.service')
  const verified = spawnSync(ANALYZE ?? '', ['verify', unit], { encoding: 'utf8' })
  expect([verified.status, verified.stderr]).toEqual([0, ''])
  const judged = spawnSync(ANALYZE ?? '', ['security', '--offline=true', '--no-pager', unit], {
    encoding: 'utf8',
  })
  expect(Number(/exposure level for \S+ (\d+\.\d)/.exec(judged.stdout)?.[1])).toBeLessThan(2)
  const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(readFileSync(unit, 'utf8'))?.[1])
  expect(stop).toBeGreaterThan(Number(SETTINGS.WHARF_DRAIN_SECONDS.fallback) + 2)
})
