import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { end, spawnBound } from '../support/bound-process.ts'
import { BusinessSystem, sendJson } from '../support/business-system.ts'
import { createDatabase, runSql } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
].filter((page) => page.endsWith('.md'))

interface Block {
  page: string
  text: string
  /** Why it is not run. */
  not?: string
}

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')

/** The fenced blocks of commands, each with the mark in the line before it. */
function blocksOf(page: string): Block[] {
  return [
    ...read(page).matchAll(/^(?:<!-- not run: (.*) -->\n)?```(?:sh|bash|console)\n([\s\S]*?)^```$/gm),
  ].map(([, not, text = '']) => ({ page, text, ...(not !== undefined && { not }) }))
}

const blocks = PAGES.flatMap(blocksOf)
const runnable = blocks.filter(({ not }) => not === undefined)

/**
 * What stands in for a person at the terminal: `npm start` runs already, an agent stays in the background, a stream is left after
 * its first line, and an answer that is an error ends the script.
 */
const SHELL = `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
npm() { [ "$*" = start ]; }
npx() { "$@"; }
wharf() {
  if [ "$1" = agent ]; then
    "$NODE" "$BIN" "$@" --listen 127.0.0.1:0 > agent.log 2>&1 &
    until [ -s agent.log ]; do kill -0 $!; sleep 0.1; done
    kill -0 $!
  else
    "$NODE" "$BIN" "$@" | tee said
    sed -n 's/^key  *//p' said > key-id.new; [ ! -s key-id.new ] || mv key-id.new key-id
  fi
}
curl() {
  case " $* " in
    *' -N '*|*' -fsSN '*) exec 3< <(exec curl -fsSN "$@"); IFS= read -r line <&3; echo "$line"; kill $! ;;
    # A person waits until the file is there.
    *' -fsSOJ '*) until command curl "$@"; do sleep 0.1; done ;;
    *) command curl -fsS "$@" ;;
  esac
}
W=$ADDRESS WHARF=$ADDRESS KEY=$(cat data/demo-key) ADMIN=$(cat data/admin-token) JSON='Content-Type: application/json'
AUTH="Authorization: Bearer $KEY"
made() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
`

/** What a page takes as given. */
const GIVEN: Record<string, string> = {
  'docs/exports.md': `ID=$(curl "$W/api/exports" -H "$AUTH" -H "$JSON" -d '{"source_url": "'$W'/samples/orders?rows=20", "keep_rows_hours": 1}' | made task_id)
until curl "$W/api/exports/$ID" -H "$AUTH" | grep -q '"status":"succeeded"'; do sleep 0.1; done
curl -o orders.csv "$W/api/exports/$ID/file" -H "$AUTH"; TASK=$ID`,
  'docs/projects-and-keys.md': `ID=$(curl "$W/api/projects" -H "Authorization: Bearer $ADMIN" -H "$JSON" -d '{"name": "other"}' | made project_id)
curl "$W/api/session" -H "$JSON" -H "Origin: $W" -d '{"key": "'$KEY'"}'
SESSION=$(curl "$W/api/sessions" -H "Authorization: Bearer $ADMIN" | made session_id)`,
  // An upload of one byte, by tus.
  'docs/processing.md': `LOCATION=$(curl -i -X POST $W/api/uploads -H "$AUTH" -H 'Tus-Resumable: 1.0.0' -H 'Upload-Length: 1' | tr -d '\\r' | sed -n 's/^location: //Ip')
curl -X PATCH "$W$LOCATION" -H "$AUTH" -H 'Tus-Resumable: 1.0.0' -H 'Upload-Offset: 0' -H 'Content-Type: application/offset+octet-stream' -d x
ID=\${LOCATION##*/}; mkdir -p /videos/$ID; echo made > /videos/$ID/result.mp4
redis-cli() { command redis-cli -u "$REDIS_URL" "$@"; }`,
  'docs/runs.md': `AUTH="Authorization: Bearer $ADMIN"`,
  'docs/saved-exports.md': `curl -X PUT $W/api/templates/orders -H "$AUTH" -H "$JSON" -d '{"template": [{"name": "id"}]}'
export SHOP_TOKEN=secret`,
  'docs/sources.md': `echo '{"kind": "http", "preset": "drf", "url": "https://shop.example/api/orders/"}' > orders.json`,
  'docs/swarm.md': 'mkdir -p /opt/app',
  'docs/transfers.md': 'echo a file > app.bin',
}

test('every block of commands is run, or says why not', () => {
  expect(blocks.length).toBeGreaterThan(25)
  for (const { page, not } of blocks)
    expect([page, not === undefined || not.length > 5]).toEqual([page, true])
  expect(blocks.filter(({ not }) => not !== undefined).length).toBeLessThanOrEqual(6)
})

/** The systems that the pages name, on loopback. */
async function neighbours(): Promise<{ origin: string; receiver: string; database: string | undefined }> {
  const business = await BusinessSystem.start()
  const source = business.source({ total: 20 })
  business.at('/orders', (request, response, url) => source.answer(request, response, url))
  const results = [{ id: 1 }, { id: 2 }]
  business.at('/api/orders/', (_, response) =>
    sendJson(response, { count: results.length, next: null, previous: null, results }),
  )
  business.at('/feed', (_, response) => sendJson(response, { items: [], next_cursor: null }))
  const database = inject('postgresUrl') ? await shopDatabase() : undefined
  return { origin: business.origin, receiver: business.receiver(204).url, database }
}

/** Its address for a role that may only read. */
async function shopDatabase(): Promise<string> {
  const { url, drop } = await createDatabase()
  const reader = new URL(url)
  reader.username = `reader_${reader.pathname.slice(1)}`
  reader.password = 'secret'
  await runSql(
    url,
    `create table orders as select 1 as id, '2026-02-01'::date as day;
    create role ${reader.username} login password 'secret'; grant select on orders to ${reader.username}`,
  )
  onTestFinished(async () => {
    await runSql(url, `drop owned by ${reader.username}; drop role ${reader.username}`)
    await drop()
  })
  return reader.href
}

interface Server {
  address: string
  dataDir: string
  env?: Record<string, string>
  /** What it has said. */
  output: { out: string }
}

async function ask<T>({ address, dataDir }: Server, path: string): Promise<T> {
  const key = readFileSync(join(dataDir, 'demo-key'), 'utf8').trim()
  const answer = await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${key}` } })
  return (await answer.json()) as T
}

/** Runs the commands of a page beside a server, and resolves with what went wrong. */
async function faultOf(
  page: string,
  server: Server,
  systems: Awaited<ReturnType<typeof neighbours>>,
): Promise<string | undefined> {
  const folder = join(server.dataDir, '..', basename(page))
  mkdirSync(folder)
  symlinkSync(server.dataDir, join(folder, 'data'))
  const { address } = server
  const { origin, receiver, database } = systems
  const { project_id } = await ask<{ project_id: string }>(server, '/api/session')
  const mine = runnable.filter((block) => block.page === page && (database || !/postgres:/.test(block.text)))
  const commands = [GIVEN[page] ?? '', ...mine.map(({ text }) => text)]
    .join('\n')
    // The addresses and folders of examples, which are taken or do not exist on the machine that runs this.
    .replaceAll('http://127.0.0.1:8080', address)
    .replaceAll('https://wharf.example.com', address)
    .replaceAll('http://127.0.0.1:3000/', `${address}/samples/orders`)
    .replaceAll('http://127.0.0.1:9000/', receiver)
    .replaceAll(/https:\/\/(shop\.)?example(\.com)?\//g, `${origin}/`)
    .replaceAll('postgres://reader:secret@db.example/shop', database ?? '')
    // Many rows are there for a person to watch.
    .replaceAll(/rows=(\d)00000\b/g, 'rows=$1000')
    .replace(/\b9000, /, '0, ')
    .replaceAll(/\/(tmp\/in|opt\/app|var\/lib\/wharf-agent|videos)\b/g, join(folder, '$1'))
    .replaceAll('KEY_ID', '$(cat key-id)')
  writeFileSync(join(folder, 'commands.sh'), `${SHELL}PROJECT=${project_id}\n${commands}`)
  const yaml = /^```yaml\n([\s\S]*?)^```$/m.exec(read(page))?.[1]
  if (yaml) writeFileSync(join(folder, 'reports.yaml'), yaml.replaceAll('https://shop.example.com', origin))
  const child = spawnBound('bash', ['-x', 'commands.sh'], {
    cwd: folder,
    env: {
      ...server.env,
      PATH: `${join(ROOT, 'node_modules/node/bin')}:${process.env.PATH}`,
      HOME: folder,
      NODE: process.execPath,
      BIN: join(ROOT, 'bin/wharf.mjs'),
      ADDRESS: address,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
  const code = await new Promise((resolve) => child.once('exit', resolve))
  await end(child, 'SIGKILL')
  return code === 0
    ? undefined
    : `${page}: exit code ${code}\n${said}\nthe server: ${server.output.out.slice(-2_000)}`
}

const REDIS_PAGE = 'docs/processing.md'

test('the commands of each page work one after another, and their exports succeed', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const server = await serveWharf({ WHARF_DATA_DIR: dataDir, WHARF_RATE_LIMIT: '10000/s' }, ['--demo'])
  const systems = await neighbours()
  for (const page of PAGES.filter(
    (page) => page !== REDIS_PAGE && runnable.some((block) => block.page === page),
  ))
    expect(await faultOf(page, server, systems)).toBeUndefined()
  const { project_id } = await ask<{ project_id: string }>(server, '/api/session')
  await until(
    'all exports have succeeded',
    async () =>
      (await ask<{ items: { status: string }[] }>(server, `/api/projects/${project_id}/exports?limit=100`))
        .items,
    (items) => items.length >= 7 && items.every(({ status }) => status === 'succeeded'),
  )
})

test.runIf(inject('postgresUrl') && inject('redisUrl'))(`the commands of ${REDIS_PAGE} work`, async () => {
  const database = await createDatabase()
  onTestFinished(() => database.drop())
  const redis = new URL(inject('redisUrl') ?? '')
  redis.pathname = '/15'
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.href, WHARF_REDIS_PREFIX: `docs-${process.pid}` }
  const server = await serveWharf({ ...env, WHARF_DATA_DIR: join(temporaryFolder(), 'data') }, ['--demo'])
  expect(await faultOf(REDIS_PAGE, { ...server, env }, await neighbours())).toBeUndefined()
})
