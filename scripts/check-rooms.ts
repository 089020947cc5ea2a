// `npm run rooms`: no import crosses a wall that the table of rooms does not open. A run that reads no module fails:
// a parser that does not understand the sources would otherwise be green for ever.
import { createRequire } from 'node:module'
import { cruise, type ICruiseOptions, type IReporterOutput } from 'dependency-cruiser'

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
const cruiseOptions: ICruiseOptions = {
  ...options,
  ruleSet: { forbidden },
  validate: true,
  outputType: 'err',
}
const result: IReporterOutput = await cruise(['src'], cruiseOptions)
console.log(typeof result.output === 'string' ? result.output : JSON.stringify(result.output))

const modules = /(\d+) modules/.exec(String(result.output))?.[1]
if (!modules || Number(modules) === 0) {
  console.error('rooms: no module was read')
  process.exit(1)
}
process.exit(result.exitCode)
