import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Upload } from 'tus-js-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backUp } from '../../src/app/backup.ts'
import { type RestoreOptions, restore } from '../../src/app/restore.ts'
import { loadConfig } from '../../src/config.ts'
import { startFeed } from '../runs/feed-server.ts'
import { availableBackends } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { ExportClient, sha256 } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../support/http.ts'
import { command, emptyMachine, serveHere, serveOn } from '../support/machines.ts'
import { S3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

type Env = Record<string, string>
type Server = Pick<Awaited<ReturnType<typeof serveOn>>, 'address' | 'ask'>

const run = { signal: new AbortController().signal, progress: () => undefined }
/** What the commands do, in this process. */
const take = (env: Env, folder: string, files: 'copy' | 'list' = 'copy') =>
  backUp(loadConfig(env), folder, { files, ...run })
const putBack = (env: Env, folder: string, more: Partial<RestoreOptions> = {}) =>
  restore(loadConfig(env), folder, { replace: false, ...run, ...more })

const adminOf = ({ WHARF_ADMIN_TOKEN, WHARF_DATA_DIR = '' }: Env) =>
  WHARF_ADMIN_TOKEN ?? readFileSync(join(WHARF_DATA_DIR, 'admin-token'), 'utf8').trim()

async function clientOf(server: Server, env: Env): Promise<ExportClient> {
  const answer = await server.ask('POST', '/api/projects', { key: adminOf(env), body: { name: 'shop' } })
  const made = (await answer.json()) as { project_id: string; api_key: string; webhook_secret: string }
  return new ExportClient(server.ask, {
    id: made.project_id,
    key: made.api_key,
    secret: made.webhook_secret,
  })
}

function upload(address: string, key: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const tus = new Upload(Buffer.from(text), {
      endpoint: `${address}/api/uploads`,
      headers: { authorization: `Bearer ${key}` },
      metadata: { filename: 'a.txt' },
      onError: reject,
      onSuccess: () => resolve(new URL(tus.url ?? '').pathname.split('/').at(-1) ?? ''),
    })
    tus.start()
  })
}

/** Work of every domain, some of it ended and some under way. */
async function fill(server: Server, env: Env, business: BusinessSystem) {
  const client = await clientOf(server, env)
  const { key } = client.project
  const done = await client.run({ source_url: business.source({ total: 300 }).url, keep_rows_hours: 1 })
  const put = await fetch(`${server.address}/api/repository/tools/a.bin`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}` },
    body: 'a file of the repository',
  })
  expect(put.status).toBe(200)
  const feed = await startFeed([{ id: 'one', body: Buffer.from('a file of an account') }])
  const admin = { key: adminOf(env) }
  await server.ask('PUT', '/api/accounts/anna', { ...admin, body: { url: feed.url, params: {} } })
  const run = await server.ask('POST', '/api/runs', { ...admin, body: { handle: 'anna', kind: 'start' } })
  const { run_id } = (await run.json()) as { run_id: string }
  await until('the run has ended', async () => {
    const { state } = (await (await server.ask('GET', `/api/runs/${run_id}`, admin)).json()) as {
      state: string
    }
    return state === 'Done'
  })
  const task = await upload(server.address, key, 'an upload')
  const held = business.source({ total: 250 })
  held.holdFrom(1)
  const underWay = await client.start({ source_url: held.url, page_size: 100 })
  await held.untilHeld()
  return { client, done, file: await client.bytes(done.task_id), task, held, underWay }
}

test('a backup is apart from the data dir, whatever the names of the folders say', async () => {
  const home = temporaryFolder()
  const env = { WHARF_DATA_DIR: join(home, 'data'), WHARF_ADMIN_TOKEN: ADMIN_TOKEN }
  const server = await serveHere(env)
  symlinkSync(env.WHARF_DATA_DIR, join(home, 'link'))
  const inside = ['data', 'data/backup', 'link/backups/monday', 'data/../data/x'].map(
    (name) => `${home}/${name}`,
  )
  for (const folder of inside)
    await expect(take(env, folder)).rejects.toMatchObject({
      code: 'OUTPUT_UNUSABLE',
      message: expect.stringMatching(/ is in the data directory \S+; a backup needs a folder apart from it/),
    })
  await expect(take(env, home)).rejects.toMatchObject({
    message: expect.stringContaining(' holds the data directory '),
  })
  expect(existsSync(join(env.WHARF_DATA_DIR, 'backup'))).toBe(false)
  await take(env, join(home, 'data-of-monday'))
  await server.stop()
  renameSync(join(home, 'data-of-monday'), join(env.WHARF_DATA_DIR, 'backup'))
  const moved = join(env.WHARF_DATA_DIR, 'backup')
  await expect(putBack(env, moved, { replace: true })).rejects.toMatchObject({
    code: 'OUTPUT_UNUSABLE',
    message: expect.stringContaining('move the backup elsewhere'),
  })
  await putBack(env, moved, { check: true })
  await putBack({ ...env, WHARF_DATA_DIR: join(home, 'other') }, moved)
})

describe.each(availableBackends())('a backup on %s', (name) => {
  test('taken under load and restored on an empty machine goes on with unfinished work', async () => {
    const business = await BusinessSystem.start()
    const [old, fresh] = [await emptyMachine(name), await emptyMachine(name)]
    const server = await serveOn(old)
    const { client, done, file, task, held, underWay } = await fill(server, old, business)
    const before = [done.task_id, underWay.task_id]
    for (let n = 0; n < 8; n++)
      before.push((await client.start({ source_url: business.source({ total: n }).url })).task_id)

    const folder = join(temporaryFolder(), 'backup')
    let over = false
    const backup = command(['backup', folder], old).finally(() => (over = true))
    const meanwhile: string[] = []
    // Each waits for its end: a backup that takes long on a busy machine must not leave a longer queue.
    const load = async () => {
      while (!over)
        meanwhile.push((await client.run({ source_url: business.source({ total: 5 }).url })).task_id)
    }
    await Promise.all([load(), load()])
    const made = await backup
    expect(made).toMatchObject({ code: 0 })
    expect(made.out).toMatch(/^backed up to .*: \d+ rows of \d+ tables, \d+ files copied \(\S+ [KM]iB\)\n/)
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(folder, path))
      expect([path, mode & 0o077]).toEqual([path, 0])
    }
    const metrics = await (await server.ask('GET', '/metrics', { key: adminOf(old) })).text()
    expect(metrics).toMatch(/wharf_last_backup_timestamp_seconds [1-9]/)
    const token = adminOf(old)
    await server.stop('SIGKILL')

    const restored = await command(['restore', folder], fresh)
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.out).not.toContain('are not there')
    const again = await serveOn({ ...fresh, PROCESSOR_COMMAND: 'cp {input} {output}' })
    expect(adminOf(fresh)).toBe(token)
    const anew = new ExportClient(again.ask, client.project)
    held.release()
    expect(sha256(await anew.bytes(done.task_id))).toBe(sha256(file))
    for (const id of before) expect(await anew.ended(id)).toMatchObject({ status: 'succeeded' })
    for (const id of meanwhile) {
      const answer = await anew.get(id)
      if (answer.status !== 404) expect(await anew.ended(id)).toMatchObject({ status: 'succeeded' })
    }
    expect((await anew.task(underWay.task_id)).file).toMatchObject({ rows: 250 })
    const rendered = await again.ask('POST', `/api/exports/${done.task_id}/render`, {
      key: client.project.key,
      body: { type: 'jsonl' },
    })
    expect(rendered.status).toBe(202)
    const { task_id } = (await rendered.json()) as { task_id: string }
    expect(await anew.ended(task_id)).toMatchObject({ status: 'succeeded', file: { rows: 300 } })
    const result = await until('the processing task has its result', async () => {
      const answer = await again.ask('GET', `/api/tasks/${task}/result`, { key: client.project.key })
      return answer.status === 200 ? answer.text() : undefined
    })
    expect(result).toBe('an upload')
    expect(readFileSync(join(fresh.WHARF_DATA_DIR ?? '', 'accounts/anna/one'), 'utf8')).toBe(
      'a file of an account',
    )
    const listed = await again.ask('GET', '/api/repository', { key: client.project.key })
    expect(JSON.stringify(await listed.json())).toContain('tools/a.bin')
    const doctor = await command(['doctor'], fresh)
    expect(doctor.out).toMatch(/✓ backup .*the last back-up is \d+/)
  })

  test('is restored twice with --replace alone, and never into a ledger that is in use', async () => {
    const business = await BusinessSystem.start()
    const env = await emptyMachine(name)
    const used = await serveOn(env)
    const client = await clientOf(used, env)
    const first = await client.run({ source_url: business.source().url })
    const folder = join(temporaryFolder(), 'backup')
    await take(env, folder)
    await expect(take(env, folder)).rejects.toMatchObject({
      code: 'OUTPUT_UNUSABLE',
      message: expect.stringContaining('is not empty'),
    })
    const later = await client.run({ source_url: business.source().url })
    const steps: string[] = []
    const refused = putBack(env, folder, { replace: true, progress: ({ what }) => steps.push(what) })
    await expect(refused).rejects.toMatchObject({
      code: name === 'embedded' ? 'DATA_DIR_LOCKED' : 'LEDGER_IN_USE',
    })
    expect(steps, 'files were put').not.toContain('files')
    await used.stop('SIGTERM')
    await expect(putBack(env, folder)).rejects.toMatchObject({
      code: 'LEDGER_NOT_EMPTY',
      message: expect.stringMatching(/^there is a ledger .*--replace/),
    })
    for (let times = 0; times < 2; times++) await putBack(env, folder, { replace: true })
    const server = await serveHere(env)
    const anew = new ExportClient(server.ask, client.project)
    expect((await anew.bytes(first.task_id)).length).toBe(first.file?.size)
    expect((await anew.get(later.task_id)).status).toBe(404)
    // Numbers go on where they were: new events and entries of the audit log meet no old ones.
    expect(await anew.run({ source_url: business.source().url })).toMatchObject({ status: 'succeeded' })
    await newProject({
      ask: (method, path, asked) => server.ask(method, path, { ...asked, key: adminOf(env) }),
    })
  })

  test('that is damaged or not whole is refused before anything is changed', async () => {
    const business = await BusinessSystem.start()
    const [env, fresh] = [await emptyMachine(name), await emptyMachine(name)]
    const server = await serveHere(env)
    const client = await clientOf(server, env)
    await client.run({ source_url: business.source().url })
    const folder = join(temporaryFolder(), 'backup')
    await take(env, folder)
    const expectRefusal = async () => {
      await expect(putBack(fresh, folder)).rejects.toMatchObject({ code: 'BACKUP_INVALID' })
      expect(readdirSync(fresh.WHARF_DATA_DIR ?? '')).toEqual([])
    }
    for (const name of ['files/0000001', 'ledger/jobs.jsonl.gz', 'files.jsonl.gz', 'manifest.json']) {
      const path = join(folder, name)
      const whole = readFileSync(path)
      const changed = Buffer.from(whole)
      const at = changed.length >> 1
      changed[at] = (changed[at] ?? 0) ^ 1
      writeFileSync(path, changed)
      await expectRefusal()
      writeFileSync(path, whole.subarray(0, at))
      await expectRefusal()
      rmSync(path)
      await expectRefusal()
      writeFileSync(path, whole)
    }
    const path = join(folder, 'manifest.json')
    const whole = readFileSync(path)
    const { sha256: _, ...manifest } = JSON.parse(whole.toString())
    const newer = { ...manifest, schema: 9_999 }
    writeFileSync(path, JSON.stringify({ ...newer, sha256: sha256(Buffer.from(JSON.stringify(newer))) }))
    await expect(putBack(fresh, folder)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    writeFileSync(path, whole)
    const checked = await command(['restore', folder, '--check'], fresh)
    expect([checked.code, checked.out]).toEqual([0, expect.stringMatching(/^the backup in .* is whole: /)])
    await putBack({ ...fresh, WHARF_SEAL_KEY: 'k'.repeat(32) }, folder)
  })
})

async function bucket(env: Env): Promise<{ s3: S3Server; env: Env }> {
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const settings = {
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
  return { s3, env: { ...env, ...settings } }
}

describe.each(availableBackends())('with files in a bucket, on %s', (name) => {
  test('a backup or a restore that is killed in the middle leaves nothing half, and is simply begun again', async () => {
    const business = await BusinessSystem.start()
    const old = await bucket({
      ...(await emptyMachine(name)),
      WHARF_SEAL_KEY: 'k'.repeat(32),
      WHARF_ENCRYPT_FILES: 'on',
    })
    const server = await serveHere(old.env)
    const client = await clientOf(server, old.env)
    const view = await client.run({ source_url: business.source({ total: 900 }).url, file_name: '订单' })
    const folder = temporaryFolder()
    const killedAt = async (args: string[], env: Env, s3: S3Server, operation: 'GetObject' | 'PutObject') => {
      s3.fault = (asked) => (asked === operation ? 'silence' : undefined)
      const seen = s3.seen.length
      const { child, exited } = runWharf(args, env)
      await until('it waits for the store', () => s3.seen.slice(seen).includes(operation))
      child.kill('SIGKILL')
      await exited
      s3.fault = () => undefined
    }
    await killedAt(['backup', join(folder, 'killed')], old.env, old.s3, 'GetObject')
    const whole = join(folder, 'whole')
    await take(old.env, whole)
    const { files } = await take(old.env, join(folder, 'list'), 'list')
    expect(files).toMatchObject({ mode: 'list', count: 1, missing: 0 })
    expect(readdirSync(join(folder, 'list'))).not.toContain('files')
    await server.stop()

    const fresh = await bucket({
      ...(await emptyMachine(name)),
      WHARF_SEAL_KEY: 'k'.repeat(32),
      WHARF_ENCRYPT_FILES: 'on',
    })
    const unfinished = await command(['restore', join(folder, 'killed')], fresh.env)
    expect(unfinished.err).toMatch(/^wharf: .* has no manifest\.json, .*BACKUP_INVALID\)\n$/m)
    const { WHARF_SEAL_KEY: _, WHARF_ENCRYPT_FILES: __, ...keyless } = fresh.env
    await expect(putBack(keyless, whole)).rejects.toThrow(/WHARF_SEAL_KEY must be the key/)
    await killedAt(['restore', whole], fresh.env, fresh.s3, 'PutObject')
    const listed = await command(['restore', join(folder, 'list')], fresh.env)
    expect(listed.out).toMatch(/^1 file that the ledger names is not there, such as store exports\//m)
    await putBack(fresh.env, whole, { replace: true })
    const again = await serveHere(fresh.env)
    const anew = new ExportClient(again.ask, client.project)
    expect(await anew.lines(view.task_id)).toHaveLength(901)
    const answer = await anew.get(view.task_id, '/file')
    expect(answer.headers.get('content-disposition')).toContain(encodeURIComponent('订单'))
    await answer.body?.cancel()
    // Encrypted files are copied as they are.
    const [stored] = fresh.s3.objects.values()
    expect(stored?.body.includes('row 1')).toBe(false)
  })
})

test.runIf(availableBackends().length > 1)(
  'an embedded installation moves to PostgreSQL and back',
  async () => {
    const business = await BusinessSystem.start()
    const embedded = await emptyMachine('embedded')
    const source = business.source({ total: 40 })
    let server = await serveHere(embedded)
    const client = await clientOf(server, embedded)
    const first = await client.run({ source_url: source.url })
    const folder = temporaryFolder()
    const machines = [embedded, await emptyMachine('postgres + redis'), await emptyMachine('embedded')]
    for (const [index, to] of machines.slice(1).entries()) {
      const backup = join(folder, String(index))
      await take(machines[index] as Env, backup)
      await server.stop()
      await putBack(to, backup)
      server = await serveHere({ ...to, WHARF_ADMIN_TOKEN: ADMIN_TOKEN })
      const anew = new ExportClient(server.ask, client.project)
      expect(await anew.lines(first.task_id)).toHaveLength(41)
      expect((await anew.items(first.task_id, 'events')).length).toBeGreaterThan(2)
      expect(await anew.run({ source_url: source.url })).toMatchObject({ file: { rows: 40 } })
    }
  },
)
