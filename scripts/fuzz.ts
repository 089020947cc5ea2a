import { Command } from 'commander'
import { optionsOf, runTests } from './run-longer.ts'

/** Runs the fuzz tests for longer than `npm test` does. */
const { minutes, seed, part } = optionsOf<{ part?: string }>(
  new Command('npm run fuzz --')
    .description(
      'Sends Wharf odd requests, calls, messages, templates and answers, and checks that none breaks anything.',
    )
    .option('--part <words>', 'only tests whose name has these words, like "gRPC" or "template"'),
  { minutes: 'how long to go on, all parts together', seed: 'the same seed gives the same examples' },
)
const only = part === undefined ? [] : ['--testNamePattern', part]
runTests('test/fuzz', { FUZZ_MINUTES: minutes, FUZZ_SEED: seed }, ...only)
