/**
 * Made the files in test/fixtures/0.1.0: what version 0.1.0 (commit 0308160) leaves when it is killed with work under way.
 *
 *   git worktree add --detach OLD 0308160 && (cd OLD && npm ci)
 *   node scripts/make-old-ledger.ts OLD embedded.json
 *   DATABASE_URL=… REDIS_URL=… node scripts/make-old-ledger.ts OLD postgres.json     (an empty database)
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '../src/app/ground/open-backend.ts'
import { createLog } from '../src/kernel/index.ts'
import { dumpPostgres, dumpSqlite, type LedgerCopy, type Row } from '../src/ledger/index.ts'

const [checkout = '', target = ''] = process.argv.slice(2)
const ADMIN = 'admin-token-for-tests'
const folder = mkdtempSync(join(tmpdir(), 'wharf-0.1.0-'))
const { PATH = '', DATABASE_URL, REDIS_URL } = process.env

/** Answers `/source` at once, `/held` up to its first page, and nothing that a run or a callback asks for. */
const business = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://business')
  const [page, size] = [Number(url.searchParams.get('page')), Number(url.searchParams.get('page_size'))]
  if (url.pathname === '/told') return void response.writeHead(503).end()
  if (url.pathname === '/feed')
    return void response.end(JSON.stringify({ items: [{ id: 'one', url: '/file' }], next_cursor: null }))
  if (url.pathname === '/file' || (url.pathname === '/held' && page > 0)) return
  const count = Math.max(0, Math.min(size, 250 - page * size))
  const data = Array.from({ length: count }, (_, index) => ({ id: page * size + index }))
  response.end(JSON.stringify({ total: 250, data }))
})
business.listen(0, '127.0.0.1')
await once(business, 'listening')
const origin = `http://127.0.0.1:${(business.address() as AddressInfo).port}`

const server = spawn(process.execPath, [join(checkout, 'src/main.ts'), 'serve'], {
  env: {
    ...{ PATH, WHARF_DATA_DIR: folder, WHARF_ADMIN_TOKEN: ADMIN, WHARF_PORT: '0', TASK_GRPC_PORT: '0' },
    ...{ COLLECT_WINDOW_SECONDS: '3600', WHARF_EXPORT_CONCURRENCY: '1' },
    ...(DATABASE_URL && REDIS_URL && { DATABASE_URL, REDIS_URL, WHARF_SHARED_DIR: folder }),
  },
})
let printed = ''
server.stdout.on('data', (text) => (printed += text))
server.stderr.on('data', (text) => (printed += text))
const seen = async <T>(read: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> => {
  for (;;) {
    const found = await read()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
const address = await seen(() => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1])

async function ask(
  method: string,
  path: string,
  body?: unknown,
  key = ADMIN,
): Promise<Record<string, string>> {
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text || '{}')
}

const project = await ask('POST', '/api/projects', { name: 'shop' })
const key = project.api_key ?? ''
const startExport = async (body: object) => (await ask('POST', '/api/exports', body, key)).task_id ?? ''
const done = await startExport({ source_url: `${origin}/source`, callback: `${origin}/told` })
await seen(async () => (await ask('GET', `/api/exports/${done}`, undefined, key)).status === 'succeeded')
const held = await startExport({ source_url: `${origin}/held`, page_size: 100 })
await seen(async () => (await ask('GET', `/api/exports/${held}`, undefined, key)).status === 'processing')
const queued = await startExport({ source_url: `${origin}/source?of=queue`, type: 'excel' })
await ask('PUT', '/api/accounts/anna', { url: `${origin}/feed`, params: {} })
const run = (await ask('POST', '/api/runs', { handle: 'anna', kind: 'start' })).run_id
await seen(async () => (await ask('GET', `/api/runs/${run}`)).state === 'Running')
const { signature } = await ask('PUT', '/api/repository/tools/a.bin', 'a file', key)
const transfer = await ask(
  'POST',
  '/api/transfers',
  {
    ...{ biz_id: 7, app_id: 1, file_path: '/tools', file_name: 'a.bin', file_signature: signature },
    ...{ target_agent_id: 'host', target_container_id: '', target_user: 'root', target_file_dir: '/tmp' },
  },
  key,
)
const tus = { authorization: `Bearer ${key}`, 'tus-resumable': '1.0.0' }
const made = await fetch(`${address}/api/uploads`, {
  method: 'POST',
  headers: { ...tus, 'upload-length': '9', 'upload-metadata': `filename ${btoa('a.txt')}` },
})
const place = new URL(made.headers.get('location') ?? '', address)
await fetch(place, {
  method: 'PATCH',
  headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
  body: 'an upload',
})
const task = place.pathname.split('/').at(-1) ?? ''
await seen(async () => (await ask('GET', `/api/tasks/${task}`, undefined, key)).status === 'PENDING')

server.kill('SIGKILL')
await once(server, 'exit')
business.closeAllConnections()
business.close()

async function tablesOf(copy: LedgerCopy): Promise<Record<string, Row[]>> {
  const tables: Record<string, Row[]> = {}
  for (const table of copy.tables) {
    const rows: Row[] = []
    for await (const row of copy.rows(table)) rows.push({ ...row })
    if (rows.length > 0) tables[table] = rows
  }
  return tables
}
const ledger = DATABASE_URL
  ? await openPostgres(DATABASE_URL, createLog({ level: 'silent' }), false)
  : undefined
const tables = await (ledger
  ? dumpPostgres(ledger, tablesOf)
  : dumpSqlite(join(folder, 'ledger.db'), tablesOf))
await ledger?.close()
const files: Record<string, string> = {}
for (const part of ['files', 'videos'])
  for (const path of readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' })) {
    const file = join(part, path)
    if (statSync(join(folder, file)).isFile()) files[file] = readFileSync(join(folder, file), 'base64')
  }
const work = { done, held, queued, run, transfer: transfer.task_id, task }
const text = JSON.stringify({ made_at: Date.now(), key, work, tables, files }, null, 1)
writeFileSync(
  new URL(`../test/fixtures/0.1.0/${target}`, import.meta.url),
  `${text.replaceAll(folder, '@DATA@').replaceAll(origin, '@BUSINESS@')}\n`,
)
process.exit()
