import { Command } from 'commander'
import { optionsOf, runTests } from './run-longer.ts'

/** Runs the chaos suite for longer than `npm test` does. */
const { minutes, seed, scenario } = optionsOf<{ scenario?: string }>(
  new Command('npm run chaos --')
    .description(
      'Breaks a cluster of three instances in every way it knows, under load, and checks that nothing was lost.',
    )
    .option('--scenario <words>', 'only faults whose name has these words, like "redis" or "store away"'),
  {
    minutes: 'how long to go on; every fault comes at least once',
    seed: 'the same seed gives the same faults in the same order',
  },
)
runTests('test/chaos', { CHAOS_MINUTES: minutes, CHAOS_SEED: seed, CHAOS_SCENARIO: scenario })
