import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FileScanner, systemClock } from '../../src/kernel/index.ts'
import { ScanSpool } from '../../src/transfers/repository/scan-spool.ts'
import { callTask } from '../processing/callers.ts'
import { startFeed } from '../runs/feed-server.ts'
import { silentLog } from '../support/backends.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { LIMIT_MS, until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

/** Refuses files with EVIL in them; does not work while there is a file `away`. */
function scanScript() {
  const folder = temporaryFolder()
  const file = join(folder, 'scan.sh')
  writeFileSync(
    file,
    `env > ${folder}/env
echo "$1" >> ${folder}/seen
[ -e ${folder}/away ] && exit 2
grep -q EVIL "$1" && exit 1
exit 0
`,
  )
  return {
    command: `sh ${file} {file}`,
    away: () => {
      writeFileSync(join(folder, 'away'), '')
      return () => rmSync(join(folder, 'away'))
    },
    read: (name: 'env' | 'seen') => readFileSync(join(folder, name), 'utf8'),
  }
}

const tus = { 'tus-resumable': '1.0.0' }

async function setup() {
  const script = scanScript()
  const wharf = await startHttp('embedded', {
    env: {
      PATH: process.env.PATH ?? '',
      SCAN_COMMAND: script.command,
      SCAN_TIMEOUT_SECONDS: '600',
      WHARF_METRICS_TOKEN: 'a-secret-of-the-server',
    },
  })
  const { id: projectId, key } = await newProject(wharf)
  const dataDir = wharf.config.WHARF_DATA_DIR
  const told = async (asked: Promise<Response>) => {
    const answer = await asked
    const text = await answer.text()
    const code = text.startsWith('{') ? (JSON.parse(text) as { code?: string }).code : undefined
    return code === undefined ? [answer.status] : [answer.status, code]
  }
  return {
    ...{ ...wharf, ...script, projectId, key, dataDir, told },
    put: (path: string, body: string) =>
      told(
        fetch(`${wharf.address}/api/repository/${path}`, {
          ...{ method: 'PUT', headers: { authorization: `Bearer ${key}` }, body },
        }),
      ),
    async begin(size: number): Promise<string> {
      const headers = { ...tus, 'upload-length': String(size) }
      const made = await wharf.ask('POST', '/api/uploads', { key, headers })
      return made.headers.get('location') ?? ''
    },
    send: (path: string, body: string) =>
      told(
        wharf.ask('PATCH', path, {
          ...{ key, body },
          headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
        }),
      ),
    head: (path: string) => told(wharf.ask('HEAD', path, { key, headers: tus })),
    filesBelow: (name: string) => {
      const folder = join(dataDir, name)
      if (!existsSync(folder)) return []
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
    },
  }
}

describe('where files are scanned', () => {
  test('[scan] a refused file does not become a task, neither as an upload nor from the temp dir', async () => {
    const { begin, send, head, ask, key, filesBelow, dataDir, grpcAddress, read } = await setup()
    const good = await begin(4)
    expect(await send(good, 'good')).toEqual([204])
    const evil = await begin(6)
    expect(await send(evil, 'x EVIL')).toEqual([422, 'FILE_REFUSED'])
    expect(await head(evil)).toEqual([404])
    const { items } = (await (await ask('GET', '/api/tasks', { key })).json()) as { items: unknown[] }
    expect(items).toHaveLength(1)
    expect(filesBelow('videos')).toEqual(['original'])
    expect(filesBelow('temp')).toEqual([])

    const temp = join(dataDir, 'temp', 'from-a-gateway')
    writeFileSync(temp, 'EVIL')
    const refused = await callTask(grpcAddress, { temp_file_path: temp, original_filename: 'film.mov' })
    expect(refused).toMatchObject({ code: 9, details: 'the malware scan refuses this file' })
    expect(readFileSync(temp, 'utf8')).toBe('EVIL')
    expect(read('env')).not.toContain('a-secret-of-the-server')
    expect(read('env')).not.toContain('SCAN_COMMAND')
  })

  test('[scan] a refused file does not get into the repository, nor into the file store', async () => {
    const { put, filesBelow, ask, key, projectId } = await setup()
    expect(await put('a', 'good')).toEqual([200])
    const before = filesBelow('files')
    expect(await put('a', 'EVIL')).toEqual([422, 'FILE_REFUSED'])
    expect(filesBelow('files')).toEqual(before)
    expect(filesBelow('scan')).toEqual([])
    const { quotas } = (await (await ask('GET', `/api/projects/${projectId}/usage`, { key })).json()) as {
      quotas: { quota: string; used: number }[]
    }
    expect(quotas.find(({ quota }) => quota === 'disk_bytes')?.used).toBe(4)
  })

  test('[scan] a refused file is no file of a run', async () => {
    const { ask, dataDir } = await setup()
    const feed = await startFeed([
      { id: 'good', body: Buffer.from('good') },
      { id: 'bad', body: Buffer.from('EVIL') },
    ])
    await ask('PUT', '/api/accounts/ann', { key: ADMIN_TOKEN, body: { url: feed.url, params: {} } })
    const started = await ask('POST', '/api/runs', {
      key: ADMIN_TOKEN,
      body: { handle: 'ann', kind: 'start' },
    })
    const { run_id } = (await started.json()) as { run_id: string }
    const run = await until(
      'the run has ended',
      async () =>
        (await (await ask('GET', `/api/runs/${run_id}`, { key: ADMIN_TOKEN })).json()) as { state: string },
      ({ state }) => state === 'Done' || state === 'Failed',
    )
    expect(run).toMatchObject({ state: 'Done', progress: { downloaded: 1, failed: 1 } })
    expect(readdirSync(join(dataDir, 'accounts', 'ann'))).toEqual(['good'])
  })
})

describe('a scanner that is away', () => {
  test('[scan] while the scanner does not work, uploads and puts are answered 503, and asking again scans again', async () => {
    const { away, begin, send, head, put, filesBelow } = await setup()
    const back = away()
    const path = await begin(4)
    expect(await send(path, 'good')).toEqual([503, 'SCANNER_UNAVAILABLE'])
    expect(await put('a', 'good')).toEqual([503, 'SCANNER_UNAVAILABLE'])
    expect(filesBelow('files')).toEqual([])
    expect(filesBelow('videos')).toEqual([])
    back()
    expect(await head(path)).toEqual([200])
    expect(filesBelow('videos')).toEqual(['original'])
    expect(await put('a', 'good')).toEqual([200])
  })

  test('[scan] while the scanner does not work, a run waits with no attempt lost, and goes on', async () => {
    const { ask, away, dataDir } = await setup()
    const back = away()
    const feed = await startFeed([{ id: 'good', body: Buffer.from('good') }])
    await ask('PUT', '/api/accounts/ann', { key: ADMIN_TOKEN, body: { url: feed.url, params: {} } })
    const started = await ask('POST', '/api/runs', {
      key: ADMIN_TOKEN,
      body: { handle: 'ann', kind: 'start' },
    })
    const { run_id } = (await started.json()) as { run_id: string }
    const look = async () =>
      (await (await ask('GET', `/api/runs/${run_id}`, { key: ADMIN_TOKEN })).json()) as {
        state: string
        waiting_for: { what: string } | null
      }
    await until('the run waits', look, ({ waiting_for }) => waiting_for?.what === 'scanner')
    expect(readdirSync(join(dataDir, 'accounts', 'ann')).filter((name) => !name.endsWith('.part'))).toEqual(
      [],
    )
    back()
    await until('the run is done', look, ({ state }) => state === 'Done')
    expect(readdirSync(join(dataDir, 'accounts', 'ann'))).toEqual(['good'])
  })
})

describe('a scan', () => {
  const scanner = (command: string, timeoutMs = LIMIT_MS) =>
    new FileScanner(silentLog, {
      command,
      timeoutMs,
      concurrency: 2,
      environment: { PATH: process.env.PATH ?? '' },
    })
  const code = (command: string, timeoutMs?: number) =>
    scanner(command, timeoutMs)
      .scan('/tmp/any file')
      .then(
        () => 'let in',
        (error) => (error as { code: string }).code,
      )

  test.each([
    ['true {file}', 'let in'],
    [`sh -c 'exit 1' {file}`, 'FILE_REFUSED'],
    [`sh -c 'exit 2' {file}`, 'SCANNER_UNAVAILABLE'],
    [`sh -c 'exit 127' {file}`, 'SCANNER_UNAVAILABLE'],
    [`sh -c 'kill -9 $$' {file}`, 'SCANNER_UNAVAILABLE'],
    ['/no/such/scanner {file}', 'SCANNER_UNAVAILABLE'],
    [`sh -c 'test "$1" = "/tmp/any file"' sh {file}`, 'let in'],
  ])('%s: %s', async (command, expected) => {
    expect(await code(command)).toBe(expected)
  })

  test('that takes too long is ended, and lets nothing in', async () => {
    expect(await code(`sh -c 'sleep 600' sh {file}`, 20)).toBe('SCAN_TIMED_OUT')
  })

  test('whose caller goes away is ended, also while it waits for its turn', async () => {
    const slow = scanner(`sh -c 'sleep 600' sh {file}`)
    const stops = Array.from({ length: 4 }, () => new AbortController())
    const scans = stops.map(({ signal }) => slow.scan('/tmp/x', signal))
    for (const stop of stops.toReversed()) stop.abort(new Error('the caller is gone'))
    for (const scan of scans) await expect(scan).rejects.toThrow('the caller is gone')
  })

  test('that a crash broke off leaves a file that is swept', async () => {
    const folder = join(temporaryFolder(), 'scan')
    mkdirSync(folder)
    for (const name of ['old', 'new']) writeFileSync(join(folder, name), 'x')
    utimesSync(join(folder, 'old'), new Date(0), new Date(0))
    const spool = new ScanSpool({ scanner: scanner('true {file}'), clock: systemClock }, { folder })
    expect(await spool.runOnce()).toEqual({ removed: 1 })
    expect(readdirSync(folder)).toEqual(['new'])
  })
})
