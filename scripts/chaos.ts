import { spawnSync } from 'node:child_process'
import { Command, InvalidArgumentError } from 'commander'

const whole = (text: string) => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is wanted')
  return text
}

/** Runs the chaos suite for longer than `npm test` does. */
const { minutes, seed, scenario } = new Command('npm run chaos --')
  .description(
    'Breaks a cluster of three instances in every way it knows, under load, and checks that nothing was lost.',
  )
  .option('--minutes <n>', 'how long to go on; every fault comes at least once', whole, '5')
  .option('--seed <n>', 'the same seed gives the same faults in the same order', whole)
  .option('--scenario <words>', 'only faults whose name has these words, like "redis" or "store away"')
  .parse()
  .opts<{ minutes: string; seed?: string; scenario?: string }>()

const { status } = spawnSync('vitest', ['run', 'test/chaos', '--reporter=verbose'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CHAOS_MINUTES: minutes,
    ...(seed !== undefined && { CHAOS_SEED: seed }),
    ...(scenario !== undefined && { CHAOS_SCENARIO: scenario }),
  },
})
process.exit(status ?? 1)
