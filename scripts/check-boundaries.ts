// `npm run boundaries`: every import keeps to the table of modules in .dependency-cruiser.cjs, and the table in
// docs/architecture.md is the same one (`-- --write` writes it). The console has rules of its own, and a folder a size. A run that reads no module fails: a parser that does not
// understand the sources would otherwise be green for ever.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { cruise, type ICruiseOptions, type IReporterOutput } from 'dependency-cruiser'
import { consoleFaults, readConsole } from './console-imports.ts'
import { folderFaults } from './folder-sizes.ts'

const { write } = new Command('npm run boundaries --')
  .description(
    'Checks every import against the table of modules, and that table against docs/architecture.md.',
  )
  .option('--write', 'write the table into docs/architecture.md')
  .parse()
  .opts<{ write?: true }>()
const { forbidden, options, modules } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
  forbidden: ICruiseOptions['ruleSet']
  options: ICruiseOptions
  modules: Record<string, { holds: string; imports: string[] }>
}
const PAGE = new URL('../docs/architecture.md', import.meta.url)
const TABLE = /(<!-- modules -->\n)[\s\S]*?(\n<!-- \/modules -->)/

const rows = Object.entries(modules).map(
  ([name, { holds, imports }]) =>
    `| \`src/${name}/\` | ${holds} | ${imports.join(', ') || 'nothing of ours'} |`,
)
const page = readFileSync(PAGE, 'utf8')
const table = ['| module | contents | may import |', '| --- | --- | --- |', ...rows].join('\n')
const wanted = page.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`)
if (write) writeFileSync(PAGE, wanted)
else if (wanted !== page || !TABLE.test(page)) {
  console.error(
    'boundaries: the table of docs/architecture.md is not that of .dependency-cruiser.cjs; run npm run boundaries -- --write',
  )
  process.exit(1)
}

const result: IReporterOutput = await cruise(['src'], {
  ...options,
  ruleSet: { forbidden } as ICruiseOptions['ruleSet'],
  validate: true,
  outputType: 'err',
} as ICruiseOptions)
console.log(typeof result.output === 'string' ? result.output : JSON.stringify(result.output))

const sources = readConsole(fileURLToPath(new URL('../console/src', import.meta.url)))
const faults = [
  ...consoleFaults(sources).map((fault) => `console: ${fault}`),
  ...folderFaults('src', { entries: true }),
  ...folderFaults('console/src', { entries: false }),
]
for (const fault of faults) console.error(fault)

const read = /(\d+) modules/.exec(String(result.output))?.[1]
if (!read || Number(read) === 0 || sources.size === 0) {
  console.error('boundaries: no module was read')
  process.exit(1)
}
process.exit(result.exitCode || Math.min(1, faults.length))
