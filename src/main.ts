import { enableCompileCache } from 'node:module'
import { Command } from 'commander'
import { addDoctorCommand } from './cli/doctor.ts'
import { addExportCommand } from './cli/export.ts'
import { Interrupted } from './cli/interrupt.ts'
import { isAppError } from './kernel/index.ts'
import { VERSION } from './version.ts'

// Threads and later starts find their code compiled: it halves the time to the first file.
enableCompileCache()

const program = new Command('wharf')
  .description('A self-hosted download center: slow work that ends in a file.')
  .version(VERSION)
  .showHelpAfterError()

program
  .command('serve')
  .description('run the server; settings come from the environment (see .env.example)')
  .option('--demo', 'make a demo project and print how to use it')
  .action(async (options) => (await import('./cli/serve.ts')).serve(options))
addExportCommand(program)
addDoctorCommand(program)

program
  .command('process')
  .description('take tasks from Redis and run PROCESSOR_COMMAND on them')
  .action(async () => (await import('./cli/process.ts')).runProcessor())

try {
  await program.parseAsync()
  process.exit(process.exitCode ?? 0)
} catch (error) {
  if (error instanceof Interrupted) process.exit(error.exitCode)
  // A mistake that the person at the terminal can mend gets one line, everything else its stack.
  if (isAppError(error)) console.error(`wharf: ${error.message} (${error.code})`)
  else console.error(error)
  process.exit(1)
}
