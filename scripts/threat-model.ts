import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { THREATS, type ThreatLine } from './threat-lines.ts'

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
export const PAGE = fromRoot('docs/threat-model.md')

export interface NamedTest {
  file: string
  name: string
}

const NAME = /(?:\btest|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1\s*,/g
const MARKER = /^\[([a-z][a-z0-9-]*)\] (.*)$/s

/** The names of all tests, as they are written. */
export function testNames(): NamedTest[] {
  const files = readdirSync(fromRoot('test'), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(?:\.test|[.-]contract)\.ts$/.test(file))
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(fromRoot('test'), file), 'utf8').matchAll(NAME)].map((match) => ({
        file: `test/${file}`,
        name: (match[2] ?? '').replace(/\\(.)/g, '$1'),
      })),
    )
}

export function markerOf({ name }: NamedTest): string | undefined {
  return MARKER.exec(name)?.[1]
}

/** The tests that prove a line. */
export function proofsOf({ id, tests = [] }: ThreatLine, all: readonly NamedTest[]): NamedTest[] {
  return all.filter((test) => markerOf(test) === id || tests.includes(test.name))
}

/** The generated part of the page. */
export function threatTables(all: readonly NamedTest[] = testNames()): string {
  return Object.entries(THREATS)
    .map(([actor, lines]) => {
      const rows = lines.map((line) => {
        const proofs = proofsOf(line, all).map(({ file, name }) => `${plain(name)} (\`${file}\`)`)
        return `| \`${line.id}\` | ${line.holds} | ${proofs.join('<br>')} |`
      })
      return [`### ${actor}`, '', '| line | what holds | proven by |', '| --- | --- | --- |', ...rows].join(
        '\n',
      )
    })
    .join('\n\n')
}

const BEGIN = '<!-- lines: written by npm run threats -->'
const END = '<!-- end of lines -->'

export function pageWith(tables: string, page: string): string {
  const [before, rest = ''] = page.split(BEGIN)
  return `${before}${BEGIN}\n\n${tables}\n\n${END}${rest.split(END)[1] ?? ''}`
}

function plain(name: string): string {
  return name.replace(MARKER, '$2').replaceAll('|', '\\|')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  new Command('npm run threats --')
    .description('Writes the tables of docs/threat-model.md from the names of the tests.')
    .parse()
  writeFileSync(PAGE, pageWith(threatTables(), readFileSync(PAGE, 'utf8')))
}
