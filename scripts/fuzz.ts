import { spawnSync } from 'node:child_process'
import { Command, InvalidArgumentError } from 'commander'

const whole = (text: string) => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is wanted')
  return text
}

/** Runs the fuzz tests for longer than `npm test` does. */
const { minutes, seed, part } = new Command('npm run fuzz --')
  .description(
    'Sends Wharf odd requests, calls, messages, templates and answers, and checks that none breaks anything.',
  )
  .option('--minutes <n>', 'how long to go on, all parts together', whole, '5')
  .option('--seed <n>', 'the same seed gives the same examples', whole)
  .option('--part <words>', 'only tests whose name has these words, like "gRPC" or "template"')
  .parse()
  .opts<{ minutes: string; seed?: string; part?: string }>()

const only = part === undefined ? [] : ['--testNamePattern', part]
const { status } = spawnSync('vitest', ['run', 'test/fuzz', '--reporter=verbose', ...only], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_MINUTES: minutes, ...(seed !== undefined && { FUZZ_SEED: seed }) },
})
process.exit(status ?? 1)
