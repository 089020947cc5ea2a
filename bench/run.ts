// `npm run bench` runs every benchmark, `npm run bench -- NAME …` only those; words that start with `--` go to them.
import { availableParallelism, loadavg } from 'node:os'
import { benchmarks } from './registry.ts'

const args = process.argv.slice(2)
const options = args.filter((arg) => arg.startsWith('-'))
const names = args.filter((arg) => !arg.startsWith('-'))

if (options.includes('--help') || options.includes('-h')) await help()
else process.exitCode = (await runAll(names)) ? 0 : 1

async function help(): Promise<void> {
  console.log('usage: npm run bench [-- NAME … [--quick]]\n')
  for (const [name, load] of Object.entries(benchmarks)) {
    console.log(`  ${name.padEnd(12)} ${(await load()).description}`)
  }
  console.log(`
--quick       fewer samples: good to see that it works, too few to quote
--only=WORD   exports: deflate; watchers, history: embedded or postgres; herd: some of poll, lock, shards, backoff, deaf, wharf, lane; throughput: engines whose name has WORD
              transfers: some of joins, simulation, wharf, http, aria2
--most=N      history: at most this many finished jobs
--agents=, --megabits=, --mebibytes=, --faults=  transfers, see bench/transfers/index.ts
--statements  herd, idle: what exactly was sent, statement by statement`)
}

async function runAll(asked: string[]): Promise<boolean> {
  const unknown = asked.filter((name) => !Object.hasOwn(benchmarks, name))
  if (unknown.length > 0) {
    console.error(`there is no benchmark '${unknown.join("', '")}'; there are: ${list()}`)
    return false
  }
  if (asked.length === 0) console.log(`benchmarks: ${list()}`)
  // A latency means little without knowing how busy the machine was.
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)} before the start`)
  let passed = true
  for (const name of asked.length > 0 ? asked : Object.keys(benchmarks)) {
    const benchmark = await benchmarks[name]?.()
    if (!benchmark) continue
    console.log(`\n## ${name}: ${benchmark.description}`)
    passed = (await benchmark.run(options)) && passed
  }
  return passed
}

function list(): string {
  return Object.keys(benchmarks).join(', ')
}
