import { exitCodeOf, lineOf, makeProgram } from './cli/program.ts'
import { Interrupted } from './cli/terminal/interrupt.ts'
import { loadSettingFiles } from './config.ts'

// What is thrown where nobody awaits it. Commands that run for long have a guard of their own, which drains.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) end(error)
})

try {
  await makeProgram(loadSettingFiles(process.env)).parseAsync()
  process.exit(process.exitCode ?? 0)
} catch (error) {
  end(error)
}

function end(error: unknown): never {
  if (error instanceof Interrupted) process.exit(error.exitCode)
  const line = lineOf(error, { debug: /^(debug|trace)$/.test(process.env.WHARF_LOG_LEVEL ?? '') })
  if (line !== undefined) console.error(line)
  process.exit(exitCodeOf(error))
}
