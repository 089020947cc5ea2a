import { type Command, Option } from 'commander'
import { AppError, ERRORS, isAppError } from '../kernel/index.ts'
import { serverAddress } from './options/server-address.ts'

interface ApplyOptions {
  server: string
  key: string
  dryRun?: boolean
}

export function addSavedCommands(program: Command): void {
  const saved = program
    .command('saved')
    .description('templates and saved exports as files, for keeping them in git')
  saved
    .command('apply <file>')
    .description('store what a YAML file says at a running server; doing it again changes nothing')
    .requiredOption('--server <url>', 'address of the Wharf server', serverAddress)
    .addOption(new Option('--key <key>', "the project's key").env('WHARF_KEY').makeOptionMandatory())
    .option('--dry-run', 'check it and say what would be done')
    .action(async (file: string, options: ApplyOptions) => applySaved(file, options, console.log))
}

/** Says for each document whether it was created, changed or unchanged. The first that is refused ends it. */
export async function applySaved(
  file: string,
  options: ApplyOptions,
  print: (line: string) => void,
): Promise<void> {
  const { readSavedFile } = await import('./options/read-saved-file.ts')
  const { Applied, askServer } = await import('../app/admin.ts')
  const ask = askServer(options.server, options.key, 'key; check --key or WHARF_KEY')
  const documents = readSavedFile(file)
  const made = new Set<string>()
  for (const { kind, name, body } of documents) {
    const path = `/api/${kind}s/${encodeURIComponent(name)}${options.dryRun ? '?dry_run=true' : ''}`
    try {
      const { outcome } = await ask('PUT', path, Applied, body)
      if (outcome === 'created') made.add(kind)
      print(`${kind} ${name}: ${outcome}${options.dryRun ? ' (dry run)' : ''}`)
    } catch (error) {
      // In a dry run there is no template yet that this one could use.
      if (!options.dryRun || !made.has('template') || !isAppError(error, ERRORS.TEMPLATE_NOT_FOUND))
        throw isAppError(error)
          ? new AppError(error.kind, `${kind} ${name}: ${error.message}`, { cause: error })
          : error
      print(`${kind} ${name}: not checked, it uses a template of this file (dry run)`)
    }
  }
}
