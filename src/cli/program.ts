import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { SettingFiles } from '../config.ts'
import { isAppError, messageOf } from '../kernel/index.ts'
import { VERSION } from '../version.ts'
import { addBackupCommands } from './backup.ts'
import { addDoctorCommand } from './doctor.ts'
import { addExportCommand } from './export.ts'
import { listenAddress, rate } from './options/agent-options.ts'
import { given } from './options/given.ts'
import { serverAddress, UsageError } from './options/server-address.ts'
import { addKeyCommands, addProjectCommands } from './project.ts'
import { addSavedCommands } from './saved.ts'
import { addVerifyCommand } from './verify.ts'

const several = (value: string, values: string[] = []) => [...values, given(value)]

/** Every command. `files` says which setting came from which file. */
export function makeProgram(files: SettingFiles = new Map()): Command {
  const program = new Command('wharf')
    .description('A self-hosted download center: slow work that ends in a file.')
    .version(VERSION)
    .exitOverride()

  program
    .command('serve')
    .description('run the server; settings come from the environment (see .env.example)')
    .option('--demo', 'make a demo project and print how to use it')
    .action(async (options) => (await import('./serve.ts')).serve(options))
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
    .option('--server <url>', 'another server', serverAddress)
    .action(async (options) => (await import('./health.ts')).health(options))

  program
    .command('config')
    .description('print the settings that are in force and where each came from; secrets are hidden')
    .option('--json', 'print them as JSON')
    .action(async (options) => (await import('./config.ts')).printConfig(files, options))

  program
    .command('process')
    .description('take tasks from Redis and run PROCESSOR_COMMAND on them')
    .action(async () => (await import('./process.ts')).runProcessor())

  program
    .command('agent')
    .description('receive files on this host and pass them on to others')
    .requiredOption('--server <url>', 'address of the Wharf server', serverAddress)
    .requiredOption('--id <agent_id>', 'who this agent is', given)
    .option('--container <container_id>', 'which container it serves; empty: the host itself', '')
    .requiredOption(
      '--root <dir>',
      'folder below which files may be written; may be given several times',
      several,
    )
    .requiredOption('--state <dir>', "folder for the agent's key", given)
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
    .addOption(
      new Option('--listen <host:port>', 'where other agents connect to')
        .argParser(listenAddress)
        .default(listenAddress('0.0.0.0:0'), '0.0.0.0:0, which is any free port'),
    )
    .option(
      '--advertise <host>',
      'the host at which other agents reach this one (default: as the server sees it)',
    )
    .option('--upload <rate>', 'most bytes per second to others, like 500k or 10m', rate)
    .option('--download <rate>', 'most bytes per second from others', rate)
    .action(async (options) => (await import('./agent.ts')).agent(options))
  sayUsageInOneLine(program)
  return program
}

/** In place of the whole help, which hides what was wrong. */
function sayUsageInOneLine(command: Command): void {
  const usage = `Usage: ${command.createHelp().commandUsage(command)} (--help explains it)`
  command.configureOutput({
    outputError: (text, write) => {
      const wrong = text
        .replace(/^error: /, '')
        .replace(/^command-argument value (.*) is invalid for argument/s, 'argument $1 is invalid for')
        .replace(/\s+/g, ' ')
        .replace(/\.? *$/, '')
      write(`wharf: ${wrong}. ${usage}\n`)
    },
  })
  for (const below of command.commands) sayUsageInOneLine(below)
}

/** 2: the command line cannot be carried out as it is. Whoever asked for help or the version has got it. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  if (!(error instanceof CommanderError)) return 1
  return error.exitCode === 0 ? 0 : 2
}

/**
 * What a command says of the error that ended it: one line, whatever went wrong. The message of a system error (a port in use, a
 * folder that is missing, a database that is away) names its address or path. Where something unforeseen was thrown is for those
 * who ask for it.
 */
export function lineOf(error: unknown, { debug = false } = {}): string | undefined {
  if (error instanceof InvalidArgumentError) return `wharf: ${error.message}`
  // Commander has said it already.
  if (error instanceof CommanderError) return undefined
  if (isAppError(error)) return `wharf: ${error.message} (${error.code})`
  const isSystemError = error instanceof Error && 'syscall' in error && 'code' in error
  if (isSystemError) return `wharf: ${error.message}`
  if (debug && error instanceof Error) return `wharf: ${error.stack}`
  const [first = ''] = messageOf(error).split('\n')
  return `wharf: ${first || 'it failed without a word'}; WHARF_LOG_LEVEL=debug shows where`
}
