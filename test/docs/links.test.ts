import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SETTINGS } from '../../src/config.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** Links and pictures that lead to a file, with the page that has them; code is no link. */
const links = PAGES.flatMap((page) => {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = '']) => to)
    .filter((to) => !/^[a-z]+:/.test(to))
    .map((to) => {
      const [path = '', anchor] = to.split('#')
      return { page, path: path === '' ? page : normalize(join(dirname(page), path)), anchor, to }
    })
})

/** As GitHub names them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every link of the docs leads somewhere, to a heading where it names one', () => {
  expect(links.length).toBeGreaterThan(100)
  const dead = links.filter(
    ({ path, anchor }) =>
      !existsSync(join(ROOT, path)) ||
      (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).includes(anchor)),
  )
  expect(dead.map(({ page, to }) => `${page}: ${to}`)).toEqual([])
})

test('every link of the docs leads to what the package has, too', () => {
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }]
  const names = files.map(({ path }) => path)
  const isThere = (path: string) => names.some((name) => name === path || name.startsWith(`${path}/`))
  const dead = links.filter(({ page, path }) => isThere(page) && !isThere(path))
  expect(dead.map(({ page, to }) => `${page}: ${to}`)).toEqual([])
})

/** What examples connect to besides Wharf: a source of one's own, and what receives callbacks. */
const OTHERS = ['docs/exports.md 127.0.0.1:3000', 'README.md 127.0.0.1:9000']

test('addresses of Wharf in docs and deploy have the ports that it listens on', () => {
  const ports = [SETTINGS.WHARF_PORT, SETTINGS.TASK_GRPC_PORT].map(({ fallback }) => fallback)
  const files = ['compose.yaml', 'Dockerfile', 'deploy/nginx.conf', 'deploy/wharf.service', ...PAGES]
  const wrong = files
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) =>
      [...read(file).matchAll(/\b(wharf(?:-\d)?|localhost|127\.0\.0\.1):(\d+)/g)]
        .filter(([, , port]) => !ports.includes(Number(port)))
        .map(([address]) => `${file} ${address}`),
    )
  expect([...new Set(wrong)].sort()).toEqual(OTHERS.sort())
})

test('a line of a crontab has no bare percent sign, which would end its command', () => {
  const lines = PAGES.flatMap((page) => read(page).split('\n')).flatMap(
    (line) =>
      /(?:^|`)(?:[\d*/,-]+ +){5}[^`]+|(?:^|`)@(?:reboot|yearly|monthly|weekly|daily|hourly) [^`]+/.exec(
        line,
      ) ?? [],
  )
  expect(lines).not.toEqual([])
  expect(lines.filter((line) => /(?<!\\)%/.test(line))).toEqual([])
})
