// Which module may import which. `npm run boundaries` checks it, and writes the table of docs/architecture.md from it
// (`-- --write`). A module may always import itself.
const { existsSync, readdirSync } = require('node:fs')
const { join } = require('node:path')

const GROUND = ['ledger', 'jobs', 'tenancy', 'storage', 'net', 'kernel']
const ON_GROUND = [...GROUND, 'domain']

const modules = {
  kernel: { holds: 'errors, clock, log, abort, retry, background duties, start and stop', imports: [] },
  ledger: { holds: 'SQLite and PostgreSQL, transactions, migrations', imports: ['kernel'] },
  redis: { holds: 'connections to Redis, their outages and figures', imports: ['kernel'] },
  jobs: {
    holds:
      'store, lease, lanes, worker, leader; `dispatch/` wake-ups, `bus/` messages between instances, `events/` the log, `duties/`',
    imports: ['ledger', 'redis', 'kernel'],
  },
  tenancy: {
    holds: 'projects, keys, people and sessions, quotas, audit, tickets, the installation and its secrets',
    imports: ['ledger', 'jobs', 'kernel'],
  },
  storage: { holds: '`ArtifactStore`: disk, S3, sealed', imports: ['kernel'] },
  net: { holds: 'outgoing HTTP with the address guard, retries', imports: ['kernel'] },
  domain: {
    holds: 'the shape of a domain: `Ground`, what it is opened on, and `Domain`, what it offers',
    imports: GROUND,
  },
  exports: {
    holds:
      'requests, `sources/` (HTTP and SQL to the spool), `template/`, `sheet/`, `csv/`, `xlsx/`, `parquet/`, `jsonl/`, saved exports, reports',
    imports: ON_GROUND,
  },
  carriers: {
    holds: 'what brings a file to hosts: `gse/`, `swarm/` with its agent',
    imports: [...ON_GROUND, 'redis'],
  },
  transfers: {
    holds: 'time windows, deliveries, the repository of files',
    imports: [...ON_GROUND, 'redis', 'carriers'],
  },
  runs: { holds: 'accounts, runs, and the walk through their feeds', imports: ON_GROUND },
  processing: { holds: 'gRPC service, uploads, hand-off to processors', imports: [...ON_GROUND, 'redis'] },
  notify: {
    holds: 'callbacks, mail, chat, event streams: readers of the event log',
    imports: ['ledger', 'jobs', 'tenancy', 'net', 'kernel', 'domain'],
  },
  http: {
    holds: 'server, authentication, limits, one folder of routes per domain',
    imports: [...ON_GROUND, 'redis', 'exports', 'transfers', 'runs', 'processing', 'notify'],
  },
}

/** Entry points besides index.ts: an agent must not load the server, nor a server without Redis the client for it. */
const SECOND_ENTRIES = ['src/carriers/swarm/agent/index.ts', 'src/redis/redis-connection.ts']

const anyOf = (paths) => paths.map((path) => `^${path.replaceAll('.', '\\.')}`).join('|')

const allowed = Object.entries(modules).map(([name, { imports }]) => ({
  name: `${name}-imports-what-the-table-allows`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: { path: '^src/', pathNot: anyOf([name, ...imports].map((other) => `src/${other}/`)) },
}))

/** Every folder with an index.ts, at any depth. */
function foldersWithEntry(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const path = `${folder}/${name}`
      return [...(existsSync(join(path, 'index.ts')) ? [path] : []), ...foldersWithEntry(path)]
    })
}

const entries = foldersWithEntry('src').map((folder) => ({
  name: `${folder.replaceAll('/', '-')}-is-imported-by-its-index`,
  comment: 'Others import the entry point of a folder, its index.ts, and nothing else of it.',
  severity: 'error',
  from: { path: '^src/', pathNot: `^(${folder}/|src/http/wire\\.ts$)` },
  // What is loaded only when it is needed is imported by its file.
  to: { path: `^${folder}/`, pathNot: anyOf([`${folder}/index.ts`, ...SECOND_ENTRIES]), dynamic: false },
}))

module.exports = {
  modules,
  forbidden: [
    ...allowed,
    ...entries,
    { name: 'no-cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'config-imports-only-kernel',
      severity: 'error',
      from: { path: '^src/config\\.ts$' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    {
      name: 'cli-imports-config-and-app',
      severity: 'error',
      from: { path: '^src/(main\\.ts|cli/)' },
      to: { path: '^src/', pathNot: '^src/(cli/|config\\.ts|version\\.ts|app/[a-z]+\\.ts|kernel/)' },
    },
    {
      name: 'only-the-command-imports-app',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts|cli/|app/)' },
      to: { path: '^src/(app/|cli/|main\\.ts)' },
    },
    {
      name: 'product-code-uses-no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '^node_modules/@types/' },
    },
  ],
  options: { doNotFollow: { path: 'node_modules' }, tsPreCompilationDeps: true, parser: 'swc' },
}
