import { type Command, Option } from 'commander'
import { loadConfig } from '../config.ts'
import { counted, sizeInWords } from '../kernel/index.ts'
import { given } from './options/given.ts'
import { interruptible } from './terminal/interrupt.ts'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .argument('<dir>', 'an empty or new folder, apart from the data dir', given)
    .description('copy ledger, secrets and files into an empty or new folder, while the server runs or not')
    .addOption(
      new Option('--files <how>', 'copy finished files too, or only list them')
        .choices(['copy', 'list'])
        .default('copy'),
    )
    .addHelpText(
      'after',
      `
Takes the settings of 'wharf serve'. The ledger is copied as it is at one moment. WHARF_SEAL_KEY and other settings are not
part of a backup: keep them apart. Anyone who can read the folder can read the secrets in it; its files have mode 0600.`,
    )
    .action(async (folder: string, { files }: { files: 'copy' | 'list' }) => {
      const { backUp } = await import('../app/backup.ts')
      const made = await runWith((run) => backUp(loadConfig(process.env), folder, { files, ...run }))
      console.log(`backed up to ${folder}: ${sumOf(made)}`)
      if (made.files.missing > 0)
        console.log(
          `${counted(made.files.missing, 'file was', 'files were')} gone when the time came to copy; see docs/backup.md`,
        )
    })
  program
    .command('restore')
    .argument('<dir>', "the folder that 'wharf backup' has made", given)
    .description('put a backup where the settings say; no server may run there')
    .option('--replace', 'put it in place of a ledger that is there')
    .option('--check', 'only see whether the backup is whole; changes nothing')
    .addHelpText(
      'after',
      `
Takes the settings of 'wharf serve': ledger and store may be others than those that were backed up. Everything is checked
before anything is changed. A restore that was broken off is simply begun again.`,
    )
    .action(async (folder: string, options: { replace?: boolean; check?: boolean }) => {
      const { replace = false, check = false } = options
      const { restore } = await import('../app/restore.ts')
      const { absent, ...made } = await runWith((run) =>
        restore(loadConfig(process.env), folder, { replace, check, ...run }),
      )
      console.log(
        `${check ? `the backup in ${folder} is whole` : `restored from ${folder}`}: ${sumOf(made)}, taken at ${made.created_at}`,
      )
      if (absent.length > 0)
        console.log(
          `${counted(absent.length, 'file that the ledger names is', 'files that the ledger names are')} not there, such as ${absent[0]}`,
        )
    })
}

interface Made {
  tables: { rows: number }[]
  files: { mode: string; count: number; total_bytes: number; missing: number }
}

function sumOf({ tables, files }: Made): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const { total_bytes: bytes } = files
  const size = sizeInWords(bytes)
  const count = files.count - files.missing
  const how = files.mode === 'copy' ? 'copied' : 'listed'
  return `${counted(rows, 'row')} of ${counted(tables.length, 'table')}, ${counted(count, 'file')} ${how} (${size})`
}

const LINE_EVERY_MS = 2_000

/** With a line of progress now and then, and an end by Ctrl-C. */
async function runWith<T>(
  work: (run: {
    signal: AbortSignal
    progress(step: { what: string; done: number; total: number }): void
  }) => Promise<T>,
): Promise<T> {
  let said = performance.now()
  const progress = ({ what, done, total }: { what: string; done: number; total: number }) => {
    const now = performance.now()
    if (done < total && now - said < LINE_EVERY_MS) return
    said = now
    console.error(`${what}: ${done} of ${total}`)
  }
  const { signal, done } = interruptible(() => console.error('wharf: stopped'))
  return work({ signal, progress }).finally(done)
}
