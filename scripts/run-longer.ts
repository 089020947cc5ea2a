import { spawnSync } from 'node:child_process'
import { type Command, InvalidArgumentError } from 'commander'

const whole = (text: string) => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is wanted')
  return text
}

/** Adds the options that all commands for longer runs have, and reads them. */
export function optionsOf<More>(command: Command, words: { minutes: string; seed: string }) {
  return command
    .option('--minutes <n>', words.minutes, whole, '5')
    .option('--seed <n>', words.seed, whole)
    .parse()
    .opts<{ minutes: string; seed?: string } & More>()
}

/** Runs a folder of tests with these settings, and ends this process as it ended. */
export function runTests(
  folder: string,
  settings: Record<string, string | undefined>,
  ...args: string[]
): never {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const { status } = spawnSync('vitest', ['run', folder, '--reporter=verbose', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...Object.fromEntries(given) },
  })
  process.exit(status ?? 1)
}
