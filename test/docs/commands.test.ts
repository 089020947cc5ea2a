import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { end, spawnBound } from '../support/bound-process.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
]

interface Block {
  page: string
  text: string
  /** Why it is not run. */
  not?: string
}

/** The fenced blocks of commands, each with the mark in the line before it. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^(?:<!-- not run: (.*) -->\n)?```(?:sh|bash|console)\n([\s\S]*?)^```$/gm)].map(
    ([, not, text = '']) => ({ page, text, ...(not !== undefined && { not }) }),
  )
}

const blocks = PAGES.filter((page) => page.endsWith('.md')).flatMap(blocksOf)
const pages = Map.groupBy(
  blocks.filter(({ not }) => not === undefined),
  ({ page }) => page,
)

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
    until [ -s agent.log ]; do kill -0 $!; done
    kill -0 $!
  else
    "$NODE" "$BIN" "$@" | tee said
    sed -n 's/^key  *//p' said > key-id.new; [ ! -s key-id.new ] || mv key-id.new key-id
  fi
}
curl() {
  case " $* " in
    *' -N '*|*' -fsSN '*) command curl -fsSN "$@" | head -n 1 || true ;;
    # A person waits until the file is there.
    *' -fsSOJ '*) until command curl "$@"; do :; done ;;
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
until curl "$W/api/exports/$ID" -H "$AUTH" | grep -q '"status":"succeeded"'; do :; done
curl -o orders.csv "$W/api/exports/$ID/file" -H "$AUTH"; TASK=$ID`,
  'docs/projects-and-keys.md': `ID=$(curl "$W/api/projects" -H "Authorization: Bearer $ADMIN" -H "$JSON" -d '{"name": "other"}' | made project_id)`,
  'docs/runs.md': `AUTH="Authorization: Bearer $ADMIN"`,
  'docs/saved-exports.md': `curl -X PUT $W/api/templates/orders -H "$AUTH" -H "$JSON" -d '{"template": [{"name": "id"}]}'`,
  'docs/transfers.md': 'echo a file > app.bin',
}

test('every block of commands is run, or says why not', () => {
  expect(blocks.length).toBeGreaterThan(25)
  for (const { page, not } of blocks)
    expect([page, not === undefined || not.length > 5]).toEqual([page, true])
  expect(blocks.filter(({ not }) => not === undefined).length).toBeGreaterThan(blocks.length / 2)
})

test.each([...pages])('the commands of %s work one after another', async (page, runnable) => {
  const folder = temporaryFolder()
  const { address } = await serveWharf({ WHARF_DATA_DIR: join(folder, 'data') }, ['--demo'])
  const business = await BusinessSystem.start()
  const { url: receiver } = business.receiver(204)
  const commands = runnable
    .map(({ text }) => text)
    .join('\n')
    // The addresses of examples, which are taken or lead nowhere on the machine that runs this.
    .replaceAll('http://127.0.0.1:8080', address)
    .replaceAll('http://127.0.0.1:3000/', `${address}/samples/orders`)
    .replaceAll('http://127.0.0.1:9000/', receiver)
    .replace(/\b9000, /, '0, ')
    .replaceAll('/tmp/in', join(folder, 'in'))
    .replaceAll('KEY_ID', '$(cat key-id)')
  writeFileSync(join(folder, 'commands.sh'), `${SHELL}${GIVEN[page] ?? ''}\n${commands}`)
  const child = spawnBound('bash', ['-x', 'commands.sh'], {
    cwd: folder,
    env: {
      PATH: `${join(ROOT, 'node_modules/node/bin')}:${process.env.PATH}`,
      HOME: folder,
      NODE: process.execPath,
      BIN: join(ROOT, 'src/main.ts'),
      ADDRESS: address,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
  const code = await new Promise((resolve) => child.once('exit', resolve))
  await end(child, 'SIGKILL')
  expect(code, said).toBe(0)
})
