import type { Command } from 'commander'
import { interruptible } from './interrupt.ts'
import { addSourceOptions, type SourceOptions, sourceAccess } from './source-options.ts'

interface DoctorOptions extends SourceOptions {
  json?: boolean
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' }

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('look at a source as an export would, and say what is wrong with it')
    .argument('<source-url>', 'answers page=P&page_size=N with {total, data}; see docs/exports.md')
    .option('--json', 'print the findings as JSON')
  addSourceOptions(command)
    .addHelpText('after', '\nEnds with 0 when an export would work, 1 when a check failed.')
    .action((url: string, options: DoctorOptions) => runDoctor(url, options))
}

async function runDoctor(url: string, options: DoctorOptions): Promise<void> {
  const { diagnoseSource } = await import('../compose-export.ts')
  const { signal, done } = interruptible(() => console.error('wharf: stopped'))
  const diagnosis = await diagnoseSource(sourceAccess(url, options), signal).finally(done)
  const { findings, recommendation } = diagnosis
  if (findings.some(({ level }) => level === 'fail')) process.exitCode = 1
  if (options.json) return console.log(JSON.stringify(diagnosis, null, 2))
  for (const { level, check, message } of findings)
    console.log(`${MARKS[level]} ${check.padEnd(8)} ${message}`)
  if (recommendation) {
    const { pageSize, fetchers, reason } = recommendation
    const many = fetchers === 1 ? '1 fetcher' : `${fetchers} fetchers`
    console.log(`\nrecommended: --page-size ${pageSize}; then ${many}, ${reason}`)
  }
}
