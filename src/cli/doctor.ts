import { type Command, InvalidArgumentError } from 'commander'
import { loadConfig } from '../config.ts'
import { counted } from '../kernel/index.ts'
import { addSourceOptions, type SourceOptions, sourceAccess } from './options/source-options.ts'
import { interruptible } from './terminal/interrupt.ts'

interface DoctorOptions extends SourceOptions {
  json?: boolean
  files?: boolean
}

interface Finding {
  level: 'ok' | 'warn' | 'fail'
  check: string
  message: string
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' }

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('say what is wrong with this installation or, with an address, with a source')
    .argument(
      '[source-url]',
      'look at this source as an export would: any endpoint that answers with rows; see docs/exports.md and docs/sources.md',
    )
    .option('--json', 'print the findings as JSON')
    .option('--files', 'also read every stored file, and compare its SHA-256 with the one that was recorded')
  addSourceOptions(command)
    .addHelpText(
      'after',
      '\nOf a source that does not speak Wharf’s own protocol it guesses how it pages, tries that out and prints it.\nWithout an address it looks at ledger, Redis, store, clocks, disks and the last back-up of the settings in force.\nEnds with 0 when all is well or merely worth a warning, with 1 when a check failed.',
    )
    .action((url: string | undefined, options: DoctorOptions) =>
      url === undefined ? examine(options) : runDoctor(url, options),
    )
}

async function examine({ json, files, header, secret, allowHosts }: DoctorOptions): Promise<void> {
  for (const [name, value] of Object.entries({
    '--header': header,
    '--secret': secret,
    '--allow-hosts': allowHosts,
  }))
    if (value !== undefined) throw new InvalidArgumentError(`${name} is for a source; give its address too`)
  const { examineInstallation } = await import('../app/doctor.ts')
  const { signal, done } = interruptible(() => console.error('wharf: stopped'))
  const config = loadConfig(process.env)
  const findings = await examineInstallation(config, files ? { files: signal } : {}).finally(done)
  report(findings)
  if (json) console.log(JSON.stringify({ findings }, null, 2))
  else show(findings)
}

async function runDoctor(url: string, options: DoctorOptions): Promise<void> {
  if (options.files)
    throw new InvalidArgumentError('--files is for the installation; leave out the address, or --files')
  const { diagnoseSource } = await import('../app/export.ts')
  const { signal, done } = interruptible(() => console.error('wharf: stopped'))
  const diagnosis = await diagnoseSource(sourceAccess(url, options), signal).finally(done)
  const { findings, recommendation, source } = diagnosis
  report(findings)
  if (options.json) return console.log(JSON.stringify(diagnosis, null, 2))
  show(findings)
  if (recommendation) {
    const { pageSize, fetchers, reason } = recommendation
    const many = counted(fetchers, 'fetcher')
    console.log(`\nrecommended: --page-size ${pageSize}; then ${many}, ${reason}`)
  }
  if (source) console.log(`\nsend as source, or save it for --source:\n${JSON.stringify(source, null, 2)}`)
}

/** By the exit code. */
function report(findings: readonly Finding[]): void {
  if (findings.some(({ level }) => level === 'fail')) process.exitCode = 1
}

function show(findings: readonly Finding[]): void {
  for (const { level, check, message } of findings)
    console.log(`${MARKS[level]} ${check.padEnd(8)} ${message}`)
}
