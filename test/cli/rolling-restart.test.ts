import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { availableBackends, openBackend, silentLog } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { createDatabase } from '../support/databases.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { NGINX, startNginx } from '../support/nginx.ts'
import { findRelease, unpackRelease } from '../support/release.ts'
import { RollingLoad } from '../support/rolling-load.ts'
import { S3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { type ProcessOptions, serveWharf, temporaryFolder } from '../support/wharf-process.ts'

/** Below the ports that the system hands out, on addresses of this process alone: a server comes back on its old one. */
const PORT = 28_080
const NETWORK = `127.${100 + (process.pid % 100)}.${1 + (Math.floor(process.pid / 100) % 250)}`

/** Starts `count` instances of the version with this entry point; each restart brings the version of this tree. */
async function setup(count: number, main: string | undefined) {
  const backend = await openBackend('postgres + redis')
  onTestFinished(() => backend.remove())
  // An earlier version makes its own schema, which the first restart upgrades.
  const empty = main === undefined ? undefined : await createDatabase()
  onTestFinished(() => empty?.drop())
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const { WHARF_DATA_DIR: _, ...ground } = backend.env
  const folder = temporaryFolder()
  const [videos, temp] = [join(folder, 'videos'), join(folder, 'temp')]
  for (const path of [videos, temp]) mkdirSync(path)
  const env = {
    ...ground,
    ...(empty && { DATABASE_URL: empty.url }),
    // As the docs advise: else nginx may send a POST over a connection that is just being closed, and answer 502.
    WHARF_UNREADY_SECONDS: '3',
    // The packages of this tree lack the one that 0.2.0 spoke to S3 with: its instances share a folder.
    ...(main === undefined && {
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }),
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_SEAL_KEY: Buffer.alloc(32, 7).toString('base64'),
    WHARF_RATE_LIMIT: '10000/s',
    WHARF_PORT: String(PORT),
    WHARF_DRAIN_SECONDS: '60',
    COLLECT_WINDOW_SECONDS: '1',
    LOCAL_STORAGE_PATH: videos,
    TEMP_STORAGE_PATH: temp,
    PROCESSOR_COMMAND: 'cp {input} {output}',
  }
  const hosts = Array.from({ length: count }, (_, index) => `${NETWORK}.${index + 1}`)
  const start = (host: string, version: ProcessOptions = {}) =>
    serveWharf({ ...env, WHARF_HOST: host, WHARF_SWARM_HOST: host }, [], version)
  const instances = new Map<string, Awaited<ReturnType<typeof start>>>()
  await Promise.all(hosts.map(async (host) => instances.set(host, await start(host, main ? { main } : {}))))
  const [plain, keeping] = [`${NETWORK}.4:${PORT}`, `${NETWORK}.5:${PORT}`]
  const nginx = await startNginx({
    address: plain,
    keeping,
    upstream: hosts.map((host) => `${host}:${PORT}`),
  })
  return {
    nginx,
    addresses: { plain: `http://${plain}`, keeping: `http://${keeping}` },
    openLedger: () =>
      empty ? openPostgresLedger(empty.url, silentLog, { connections: 1 }) : backend.openLedger(),
    hosts,
    /** Starts one more of the first version. */
    startFirst: () => start(`${NETWORK}.9`, main ? { main } : {}),
    /** Ends one instance with SIGTERM and starts it again on the same address. */
    async restart(host: string) {
      const old = instances.get(host)
      old?.child.kill('SIGTERM')
      expect(await old?.exited, old?.output.err).toEqual({ code: 0, signal: null })
      expect(old?.output.out).not.toMatch(/not everything has stopped in time|"unforeseen"/)
      instances.set(host, await start(host))
    },
  }
}

const RELEASE = findRelease('0.2.0')
const ready = NGINX && availableBackends().includes('postgres + redis')

describe
  .runIf(ready)
  .each([
    { what: 'restart of three instances', count: 3 },
    ...(RELEASE ? [{ what: 'upgrade of two instances from 0.2.0', count: 2, release: RELEASE }] : []),
  ])('a rolling $what', ({ count, release }: { count: number; release?: string }) => {
  test('behind nginx fails no request, burns no attempt and does nothing twice', async () => {
    const { addresses, hosts, restart, startFirst, openLedger, nginx } = await setup(
      count,
      release && unpackRelease(release),
    )
    const load = new RollingLoad(addresses, await BusinessSystem.start())
    const end = await load.begin()
    const progress = (more: number) => {
      const before = { ...load.done }
      return until(`every client has done ${more} more`, () => {
        if (load.failures.length > 0) throw new Error(`${load.failures.join('\n')}\n${nginx.log()}`)
        return (['exports', 'sync', 'runs', 'transfers', 'processing'] as const).every(
          (what) => load.done[what] >= before[what] + more,
        )
      })
    }
    for (const host of hosts) {
      await progress(1)
      await restart(host)
    }
    await progress(1)
    // The new version has migrated the ledger.
    if (release) await expect(startFirst()).rejects.toThrow('SCHEMA_TOO_NEW')
    await end()
    expect(load.failures, nginx.log()).toEqual([])
    const ledger = await openLedger()
    const jobs = await until(
      'the last callbacks are delivered',
      () => ledger.db.selectFrom('jobs').select(['kind', 'state', 'attempts', 'crashes']).execute(),
      (jobs) => jobs.every(({ state }) => !['waiting', 'pending', 'running'].includes(state)),
    )
    await ledger.close()
    expect(
      jobs.filter(({ state, attempts, crashes }) => state !== 'succeeded' || attempts !== 1 || crashes !== 0),
    ).toEqual([])
    expect(jobs.length).toBeGreaterThanOrEqual(load.done.exports + load.done.runs + load.done.transfers)
    for (const { pages } of load.sources) expect(pages.toSorted()).toEqual([0, 1, 2])
  })
})
