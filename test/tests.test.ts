import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

interface Rule {
  never: RegExp
  because: string
  /** Files that may, each with its reason. */
  except?: Record<string, string>
}

/** What makes a test fail by chance: on a busy machine, beside other tests, or after them. */
const RULES: Rule[] = [
  {
    never: /\bsetTimeout\b|scheduler\.wait/,
    because: 'wait for a condition with until(), or move a clock',
    except: {
      'support/until.ts': 'the one place that waits',
      'support/kill-worker.ts': 'its steps take a random time, and nothing is asserted of it',
      'jobs/kill.test.ts': 'a kill at a random moment',
    },
  },
  {
    never: /\btimeout: \d+_\d|^\s*\}, [\d_]{4,}\)$/m,
    because: 'the limits in vitest.config.ts and until.ts hold for all',
  },
  {
    never: /AbortSignal\.timeout/,
    because: 'it measures the machine',
    except: {
      'support/until.ts': 'the common limit',
      'chaos/load.ts': 'a client gives up on a stalled instance and asks again; nothing fails by it',
    },
  },
  {
    never: /\bretry: ?\d|\brepeats: ?\d+ \}, (async )?\(/,
    because: 'a test that fails by chance is to be cured',
  },
  { never: /\.(skip|only|todo)\(/, because: 'it hides tests' },
  {
    never:
      /waitForTimeout|expect\(await [^\n]*\.(textContent|innerText|inputValue|getAttribute|count\(\)|is(Visible|Hidden|Enabled|Disabled|Checked))/,
    because: 'a page changes when it is ready: wait with a locator or expect.poll',
  },
  {
    never: /\.listen\((?!0\b|'127\.0\.0\.1', 0\b|\{ port: 0\b|\{\s*(?!port|host)\w+: )[^)]/,
    because: 'ports come from the operating system; an address that must stay is a Front',
  },
  { never: /freePort|get-port/, because: 'a port that was given back may be taken: use a Front' },
  {
    never: /\bspawn\(/,
    because: 'spawnBound() leaves no process behind',
    except: { 'support/bound-process.ts': 'is spawnBound' },
  },
  {
    never: /while \[ ! -e/,
    because: 'a command outlives a killed server: it waits only while its own file is there, [ -e "$0" ] &&',
  },
]

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name: relative('.', name), text: readFileSync(join(FOLDER, name), 'utf8') }))
  .filter(({ name }) => name !== 'tests.test.ts')

test.each(RULES)('$because', ({ never, because, except = {} }) => {
  const found = files.filter(({ name, text }) => !(name in except) && never.test(text))
  expect(found.map(({ name, text }) => `${name}: ${never.exec(text)?.[0]} (${because})`)).toEqual([])
})

test('every exception is still needed', () => {
  for (const { never, except = {} } of RULES)
    for (const name of Object.keys(except))
      expect(files.find((file) => file.name === name)?.text, name).toMatch(never)
})
