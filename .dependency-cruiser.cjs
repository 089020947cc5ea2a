// The table of rooms in docs/architecture.md, as a rule. `from` may import only what is listed (and itself).
const rooms = {
  kernel: [],
  engine: ['kernel'],
  storage: ['kernel'],
  net: ['kernel'],
  exports: ['engine', 'storage', 'net', 'kernel'],
  transfers: ['engine', 'storage', 'net', 'kernel'],
  runs: ['engine', 'net', 'kernel'],
  processing: ['engine', 'storage', 'kernel'],
  notify: ['engine', 'net', 'kernel'],
  http: ['engine', 'exports', 'transfers', 'runs', 'processing', 'notify', 'storage', 'kernel'],
}

const outside = Object.entries(rooms).map(([room, allowed]) => ({
  name: `${room}-imports-only-its-own`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((other) => `^src/${other}/`)].join('|') },
}))

const doors = Object.keys(rooms).map((room) => ({
  name: `${room}-is-entered-by-its-door`,
  comment:
    'The door of a folder is its index.ts; others import only that. The agent has a door of its own: it must not load the server.',
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${room}/` },
  to: { path: `^src/${room}/`, pathNot: `^src/${room}/(agent/)?index\\.ts$` },
}))

module.exports = {
  forbidden: [
    ...outside,
    ...doors,
    { name: 'no-circles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    {
      name: 'config-imports-only-kernel',
      severity: 'error',
      from: { path: '^src/config\\.ts$' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    {
      name: 'cli-imports-config-and-compose',
      severity: 'error',
      from: { path: '^src/(main\\.ts|cli/)' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(cli/|config\\.ts|compose\\.ts|compose-(admin|agent|doctor|export|processor)\\.ts|version\\.ts|kernel/)',
      },
    },
    {
      name: 'nothing-imports-compose-but-the-command',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts|cli/|compose)' },
      to: { path: '^src/(compose|cli/|main\\.ts)' },
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
