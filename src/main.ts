import { Command } from 'commander'
import { addBackupCommands } from './cli/backup.ts'
import { addDoctorCommand } from './cli/doctor.ts'
import { addExportCommand } from './cli/export.ts'
import { addKeyCommands, addProjectCommands } from './cli/project.ts'
import { addSavedCommands } from './cli/saved.ts'
import { Interrupted } from './cli/terminal/interrupt.ts'
import { addVerifyCommand } from './cli/verify.ts'
import { loadSettingFiles, type SettingFiles } from './config.ts'
import { isAppError } from './kernel/index.ts'
import { VERSION } from './version.ts'

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
addProjectCommands(program)
addKeyCommands(program)
addVerifyCommand(program)
addSavedCommands(program)
addBackupCommands(program)

program
  .command('health')
  .description(
    'ask the server of these settings whether it can take requests; ends with 0 if so, else with 1',
  )
  .option('--server <url>', 'another server')
  .action(async (options) => (await import('./cli/health.ts')).health(options))

let files: SettingFiles = new Map()
program
  .command('config')
  .description('print the settings that are in force and where each came from; secrets are hidden')
  .option('--json', 'print them as JSON')
  .action(async (options) => (await import('./cli/config.ts')).printConfig(files, options))

program
  .command('process')
  .description('take tasks from Redis and run PROCESSOR_COMMAND on them')
  .action(async () => (await import('./cli/process.ts')).runProcessor())

const several = (value: string, values: string[] = []) => [...values, value]

program
  .command('agent')
  .description('receive files on this host and pass them on to others')
  .requiredOption('--server <url>', 'address of the Wharf server')
  .requiredOption('--id <agent_id>', 'who this agent is')
  .option('--container <container_id>', 'which container it serves; empty: the host itself', '')
  .requiredOption(
    '--root <dir>',
    'folder below which files may be written; may be given several times',
    several,
  )
  .requiredOption('--state <dir>', "folder for the agent's key")
  .option('--enroll <token>', 'the first time: the token of POST /api/agents/enrollments')
  .option(
    '--allow-project <id>',
    "whose files it takes, '*' for every project; may be given several times (default: nobody's)",
    several,
  )
  .option(
    '--allow-user <name>',
    'whom files may belong to; may be given several times (default: nobody)',
    several,
  )
  .option('--listen <host:port>', 'where other agents connect to', '0.0.0.0:0')
  .option(
    '--advertise <host>',
    'the host at which other agents reach this one (default: as the server sees it)',
  )
  .option('--upload <rate>', 'most bytes per second to others, like 500k or 10m')
  .option('--download <rate>', 'most bytes per second from others')
  .action(async (options) => (await import('./cli/agent.ts')).agent(options))

try {
  files = loadSettingFiles(process.env)
  await program.parseAsync()
  process.exit(process.exitCode ?? 0)
} catch (error) {
  if (error instanceof Interrupted) process.exit(error.exitCode)
  // What the person at the terminal can put right gets one line, everything else its stack. The message of a system
  // error (a port in use, a folder that is missing, a database that is away) names its address or path.
  if (isAppError(error)) console.error(`wharf: ${error.message} (${error.code})`)
  else if (isSystemError(error)) console.error(`wharf: ${error.message}`)
  else console.error(error)
  process.exit(1)
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
