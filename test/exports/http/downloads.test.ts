import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Download } from '../../../src/exports/export-queries.ts'
import type { ExportView } from '../../../src/exports/index.ts'
import { problemOf, sha256, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const HOUR = 3_600_000

test('a file can be had in ranges, and asked whether it has changed', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 100 })
  const { task_id, file } = await client.run({ source_url: source.url, file_name: 'naïve 报表 "1"' })
  const whole = await client.bytes(task_id)
  const get = (headers: Record<string, string>, method = 'GET') =>
    client.ask(method, `/api/exports/${task_id}/file`, { key: client.project.key, headers })
  const plain = await get({})
  await plain.arrayBuffer()
  const etag = plain.headers.get('etag') ?? ''
  expect(plain.headers.get('accept-ranges')).toBe('bytes')
  expect(plain.headers.get('content-length')).toBe(String(file?.size))
  const disposition = plain.headers.get('content-disposition') ?? ''
  expect(disposition).toContain(`filename*=UTF-8''${encodeURIComponent(file?.name ?? '')}`)
  expect(disposition).toMatch(/^attachment; filename="[\x20-\x7e]+\.csv"/)

  const ranges: [string, number, number][] = [
    ['bytes=0-9', 0, 9],
    ['bytes=10-', 10, whole.length - 1],
    ['bytes=-7', whole.length - 7, whole.length - 1],
    ['bytes=5-999999', 5, whole.length - 1],
    ['bytes=-999999', 0, whole.length - 1],
  ]
  for (const [range, start, end] of ranges) {
    const part = await get({ range })
    expect({ range, status: part.status, is: part.headers.get('content-range') }).toEqual({
      range,
      status: 206,
      is: `bytes ${start}-${end}/${whole.length}`,
    })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(start, end + 1))
  }
  for (const range of [`bytes=${whole.length}-`, 'bytes=9-3', 'bytes=-0']) {
    const refused = await get({ range })
    expect({ range, at: refused.headers.get('content-range') }).toEqual({
      range,
      at: `bytes */${whole.length}`,
    })
    expect(await problemOf(refused)).toMatchObject({ status: 416, code: 'RANGE_NOT_SATISFIABLE' })
  }
  for (const range of ['bytes=0-1,4-5', 'lines=1-2', 'bytes=a-b']) {
    const all = await get({ range })
    expect({ range, status: all.status, size: (await all.arrayBuffer()).byteLength }).toEqual({
      range,
      status: 200,
      size: whole.length,
    })
  }
  expect((await get({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206)
  const changed = await get({ range: 'bytes=0-1', 'if-range': '"another"' })
  expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, whole.length])
  const beyond = await get({ range: `bytes=${whole.length}-`, 'if-range': '"another"' })
  expect([beyond.status, (await beyond.arrayBuffer()).byteLength]).toEqual([200, whole.length])
  expect((await get({ 'if-none-match': etag })).status).toBe(304)
  expect((await get({ 'if-none-match': `"x", W/${etag}` })).status).toBe(304)
  expect((await get({ 'if-none-match': '"x"' })).status).toBe(200)
  const head = await get({}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
    200,
    String(whole.length),
    etag,
  ])
  expect((await get({ range: 'bytes=0-9' }, 'HEAD')).headers.get('content-length')).toBe('10')
})

test('the download address works without a key, for a while, for its own task, unchanged', async () => {
  const clock = new FastClock(1)
  const { wharf, business, client } = await startExports('embedded', { clock })
  const source = business.source({ total: 1 })
  const first = await client.run({ source_url: source.url })
  const second = await client.run({ source_url: source.url })
  const address = new URL(first.download_url ?? '')
  const open = (url: URL | string) => wharf.ask('GET', String(url))
  const answer = await open(address)
  expect(answer.status).toBe(200)
  expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(first.file?.sha256)

  const other = new URL(second.download_url ?? '')
  other.search = address.search
  expect(await problemOf(open(other))).toMatchObject({ status: 404, code: 'TASK_NOT_FOUND' })
  const ticket = address.searchParams.get('ticket') ?? ''
  const [version, payload = '', signature] = ticket.split('.')
  const later = Buffer.from(JSON.stringify([first.task_id, Date.now() + 1e12, null, null])).toString(
    'base64url',
  )
  for (const forged of [
    `${version}.${later}.${signature}`,
    `${version}.${payload}.${signature?.slice(1)}`,
    `${version}.${payload}`,
    `${ticket}.x`,
    `${ticket}.`,
    'x',
  ]) {
    address.searchParams.set('ticket', forged)
    expect(await problemOf(open(address))).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
  }
  address.searchParams.delete('ticket')
  expect(await problemOf(open(address))).toMatchObject({ status: 401 })
  const asKey = { key: ticket }
  for (const [method, path] of [
    ['POST', '/retry'],
    ['DELETE', ''],
    ['POST', '/ticket'],
    ['GET', '/downloads'],
  ] as const) {
    const refused = await wharf.ask(method, `/api/exports/${first.task_id}${path}`, asKey)
    expect(await problemOf(refused)).toMatchObject({ status: 403 })
  }
  expect(
    await problemOf(wharf.ask('POST', '/api/exports', { ...asKey, body: { source_url: source.url } })),
  ).toMatchObject({ status: 403 })
  const shown = (await (await wharf.ask('GET', `/api/exports/${first.task_id}`, asKey)).json()) as ExportView
  expect(shown.download_url, 'a ticket does not renew itself').toBe(first.download_url)
  clock.advance(HOUR)
  expect(await problemOf(open(first.download_url ?? ''))).toMatchObject({ status: 410, code: 'LINK_EXPIRED' })
  const renewed = await client.task(first.task_id)
  expect((await open(renewed.download_url ?? '')).status).toBe(200)
})

test('the log of downloads tells who fetched the file, and whether it got what it asked for', async () => {
  const { wharf, business, client } = await startExports()
  const source = business.source({ total: 50 })
  const { task_id, download_url, file } = await client.run({ source_url: source.url })
  await client.bytes(task_id)
  await (await wharf.ask('GET', download_url ?? '')).arrayBuffer()
  await (await wharf.ask('GET', download_url ?? '', { headers: { range: 'bytes=0-3' } })).arrayBuffer()
  const seen = await until('all three are written down', async () => {
    const items = await client.items<Download>(task_id, 'downloads')
    return items.length === 3 && items
  })
  expect(seen.map(({ who, bytes, complete, address }) => ({ who, bytes, complete, address }))).toEqual([
    { who: 'key main', bytes: file?.size, complete: true, address: '127.0.0.1' },
    { who: 'ticket of key main', bytes: file?.size, complete: true, address: '127.0.0.1' },
    { who: 'ticket of key main', bytes: 4, complete: true, address: '127.0.0.1' },
  ])
  const stranger = await newProject(wharf)
  expect(
    await problemOf(wharf.ask('GET', `/api/exports/${task_id}/file`, { key: stranger.key })),
  ).toMatchObject({ status: 404 })
})

test('a file past its time is swept, and its address says so ever after', async () => {
  const clock = new FastClock(1)
  const { wharf, business, client, config } = await startExports('embedded', {
    clock,
    env: { WHARF_EXPORT_TTL_HOURS: '2' },
  })
  const source = business.source({ total: 1 })
  const view = await client.run({ source_url: source.url })
  const kept = Date.parse(view.expires_at ?? '') - Date.parse(view.finished_at ?? '')
  expect(kept).toBeGreaterThanOrEqual(2 * HOUR - 1000)
  const files = join(config.WHARF_DATA_DIR, 'files')
  const holds = () =>
    readdirSync(files, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.parentPath.includes('exports'),
    )
  expect(holds().length).toBeGreaterThan(0)
  clock.advance(3 * HOUR)
  expect(await problemOf(client.get(view.task_id, '/file'))).toMatchObject({
    status: 410,
    code: 'EXPORT_EXPIRED',
  })
  await until('the file is swept', () => holds().length === 0)
  const gone = await until('the task says so', async () => {
    const task = await client.task(view.task_id)
    return task.download_url === null && task
  })
  expect(gone).toMatchObject({ status: 'succeeded', file: view.file, expires_at: view.expires_at })
  expect(view.file_deleted_at).toBeNull()
  expect(Date.parse(gone.file_deleted_at ?? '')).toBeGreaterThanOrEqual(Date.parse(view.expires_at ?? ''))
  expect(await problemOf(client.get(view.task_id, '/file'))).toMatchObject({
    status: 410,
    code: 'EXPORT_EXPIRED',
  })
  const { ticket } = (await (
    await wharf.ask('POST', `/api/exports/${view.task_id}/ticket`, { key: client.project.key })
  ).json()) as { ticket: string }
  expect((await wharf.ask('GET', `/api/exports/${view.task_id}/file?ticket=${ticket}`)).status).toBe(410)
})

test('there is no file before the end, and none of a failed export', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 150 })
  source.holdFrom(1)
  const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
  await source.untilHeld()
  const early = await problemOf(client.get(task_id, '/file'))
  expect(early).toMatchObject({
    status: 409,
    code: 'EXPORT_NOT_READY',
    detail: expect.stringContaining('processing'),
  })
  source.release()
  await client.ended(task_id)
  const refused = business.source({ instead: (_, response) => Boolean(response.writeHead(404).end()) })
  const failed = await client.start({ source_url: refused.url })
  await client.ended(failed.task_id)
  expect(await problemOf(client.get(failed.task_id, '/file'))).toMatchObject({
    status: 409,
    detail: expect.stringContaining('failed'),
  })
})

test('a file whose bytes were replaced by others of the same size never arrives whole, and is refused from then on', async () => {
  const { business, client, config, ask } = await startExports()
  const folder = join(config.WHARF_DATA_DIR, 'files')
  const files = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile() && path.endsWith('.blob'))
  const counted = async () => {
    const scrape = await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text()
    return Number(/^wharf_damaged_files_total\{domain="exports"\} (\d+)$/m.exec(scrape)?.[1] ?? 0)
  }
  const readWhole = (headers: Record<string, string> = {}) =>
    client
      .ask('GET', `/api/exports/${view.task_id}/file`, { key: client.project.key, headers })
      .then(async (answer) => (answer.ok ? sha256(Buffer.from(await answer.arrayBuffer())) : answer.status))
      .catch(() => 'broken off')
  const view = await client.run({ source_url: business.source({ total: 20_000 }).url })
  const { size = 0, sha256: recorded } = view.file ?? {}
  expect(size).toBeGreaterThan(300_000)
  const [blob] = files().filter((path) => statSync(path).size === size) as [string]
  const right = readFileSync(blob)
  const wrong = Buffer.from(right)
  wrong[size >> 1] = (wrong[size >> 1] ?? 0) ^ 1
  for (const headers of [{}, { range: 'bytes=0-' }]) {
    writeFileSync(blob, wrong)
    const before = await counted()
    expect(await readWhole(headers)).toBe('broken off')
    expect(await counted()).toBe(before + 1)
    // It is known now.
    for (const more of [{}, { range: 'bytes=0-9' }]) expect(await readWhole(more)).toBe(500)
    expect(
      (await client.ask('HEAD', `/api/exports/${view.task_id}/file`, { key: client.project.key })).status,
    ).toBe(500)
    writeFileSync(blob, right)
    expect(await readWhole(headers)).toBe(recorded)
  }
  const small = await client.run({ source_url: business.source({ total: 2 }).url, keep_rows_hours: 1 })
  for (const path of files()) {
    if (path === blob) continue
    const bytes = readFileSync(path)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    writeFileSync(path, bytes)
  }
  expect(await problemOf(client.get(small.task_id, '/file'))).toMatchObject({ code: 'ARTIFACT_DAMAGED' })
  const body = { type: 'excel' }
  const render = await client.ask('POST', `/api/exports/${small.task_id}/render`, {
    key: client.project.key,
    body,
  })
  const { task_id } = (await render.json()) as ExportView
  expect((await client.ended(task_id)).error).toMatchObject({ code: 'ARTIFACT_DAMAGED' })
})

test('a file that was cut, extended or emptied in the store is refused before its first byte, and uses up no link', async () => {
  const { business, client, config, ask } = await startExports()
  const source_url = business.source({ total: 100 }).url
  const view = await client.run({ source_url, link_uses: 1, keep_rows_hours: 1 })
  const folder = join(config.WHARF_DATA_DIR, 'files')
  const size = view.file?.size ?? 0
  const blobOf = (wanted: (path: string) => boolean) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .find((path) => statSync(path).isFile() && wanted(path)) as string
  const blob = blobOf((path) => statSync(path).size === size)
  const link = view.download_url as string
  const damages: (() => void)[] = [
    () => truncateSync(blob, size - 1),
    () => appendFileSync(blob, 'more'),
    () => truncateSync(blob, 0),
  ]
  const counted = async () => {
    const scrape = await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text()
    return Number(/^wharf_damaged_files_total\{domain="exports"\} (\d+)$/m.exec(scrape)?.[1] ?? 0)
  }
  const before = await counted()
  for (const damage of damages) {
    damage()
    for (const headers of [{}, { range: 'bytes=0-9' }])
      expect(
        await problemOf(fetch(link, { headers: { accept: 'application/json', ...headers } })),
      ).toMatchObject({
        status: 500,
        code: 'ARTIFACT_DAMAGED',
        detail: expect.stringContaining(`had ${size} when it was stored`),
      })
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(500)
  }
  expect(await counted()).toBe(before + 9)
  truncateSync(
    blobOf((path) => /rows-0.*\.blob$/.test(path)),
    20,
  )
  const render = await client.ask('POST', `/api/exports/${view.task_id}/render`, {
    key: client.project.key,
    body: { type: 'excel' },
  })
  const { task_id } = (await render.json()) as ExportView
  expect((await client.ended(task_id)).error).toMatchObject({ code: 'ARTIFACT_DAMAGED' })
})
