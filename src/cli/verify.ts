import type { Command } from 'commander'

interface VerifyOptions {
  manifest: string
  keys?: string
}

const HELP = `
Get the manifest from /api/exports/TASK_ID/manifest, or take manifest.json out of an archive; get the keys, from the
installation that made the file, at /.well-known/wharf-keys. No server is asked.

Ends with 0 when everything holds, 1 when something does not, or cannot be read.`

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check files against a signed manifest, with no server')
    .argument('<file...>', 'an export, or parts of one')
    .requiredOption('--manifest <file>', 'what the files must be')
    .option('--keys <file>', 'the keys that may have signed the manifest')
    .addHelpText('after', HELP)
    .action((files: string[], options: VerifyOptions) => runVerify(files, options))
}

async function runVerify(files: string[], options: VerifyOptions): Promise<void> {
  const { verifyFiles } = await import('../app/export.ts')
  const findings = await verifyFiles(files, options)
  for (const { good, unproved, what, message } of findings)
    console.log(`${unproved ? '!' : good ? '✓' : '✗'} ${what}: ${message}`)
  if (findings.some(({ good }) => !good)) process.exitCode = 1
}
