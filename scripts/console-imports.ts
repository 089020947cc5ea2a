import { globSync, readFileSync } from 'node:fs'
import { dirname, normalize } from 'node:path/posix'

/** Files by their path in console/src, with their text. */
export type Sources = ReadonlyMap<string, string>

export function readConsole(root: string): Sources {
  const paths = globSync('**/*.{ts,tsx}', { cwd: root })
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(`${root}/${path}`, 'utf8')]))
}

/** What a folder may import from outside: the types of the API, and the words for its errors. */
const FROM_OUTSIDE: Readonly<Record<string, RegExp>> = {
  api: /^..\/..\/src\/http\/wire\.ts$/,
  i18n: /^..\/..\/src\/kernel\/error-words\/\w+\.json$/,
}

/**
 * What in the console's imports is against the rules of docs/console.md, one line each. dependency-cruiser cannot read .tsx
 * here; the formatter keeps every import in a form that a pattern finds.
 */
export function consoleFaults(sources: Sources): string[] {
  const faults: string[] = []
  const edges = new Map<string, Map<string, string>>()
  for (const [path, text] of sources) {
    const from = folderOf(path)
    for (const target of importsOf(path, text)) {
      const line = `${path} → ${target}`
      if (target.startsWith('../') && !FROM_OUTSIDE[from]?.test(target))
        faults.push(`only api/ imports from outside, and only src/http/wire.ts: ${line}`)
      if (target.startsWith('../')) continue
      if (target === 'api/client.ts' && from !== 'api') faults.push(`only api/ sends requests: ${line}`)
      const to = folderOf(target)
      if (from === to) continue
      if (isPage(from) && isPage(to)) faults.push(`a page does not import another page: ${line}`)
      const known = edges.get(from) ?? new Map<string, string>()
      edges.set(from, known.set(to, line))
    }
  }
  return [...faults, ...cycles(edges)]
}

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/\b(?:from|import) ?\(?'(\.[^']+)'/g)].map(([, target = '']) =>
    normalize(`${dirname(path)}/${target}`),
  )
}

/** A folder of console/src; each folder of pages/ counts by itself, and so does each file beside folders. */
function folderOf(path: string): string {
  const [first = '', second] = path.split('/')
  return first === 'pages' ? `pages/${second}` : first
}

const isPage = (folder: string) => folder.startsWith('pages/') && !folder.endsWith('.ts')

/** Each cycle between folders, as the imports that close it. */
function cycles(edges: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (folder: string, trail: readonly string[]) => {
    const begin = trail.indexOf(folder)
    if (begin >= 0) {
      const circle = [...trail.slice(begin), folder]
      const lines = circle.slice(1).map((to, n) => edges.get(circle[n] ?? '')?.get(to))
      found.push(`folders import one another in a cycle: ${lines.join(', ')}`)
      return
    }
    if (done.has(folder)) return
    for (const to of edges.get(folder)?.keys() ?? []) visit(to, [...trail, folder])
    done.add(folder)
  }
  for (const folder of edges.keys()) visit(folder, [])
  return found
}
