import { expect, test } from 'vitest'
import { makeProgram } from '../../src/cli/program.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

const AGENT = ['agent', '--server', 'http://127.0.0.1:1', '--root', '/', '--state', '/tmp/none']

/** What a command line is, and the one line that it ends with. */
const MISTAKES: [string[], RegExp][] = [
  [['sreve'], /unknown command 'sreve' \(Did you mean serve\?\)\. Usage: wharf \[options\] \[command\]/],
  [['serve', '--dmeo'], /unknown option '--dmeo' \(Did you mean --demo\?\)\. Usage: wharf serve \[options\]/],
  [
    ['project', 'create'],
    /missing required argument 'name'\. Usage: wharf project create \[options\] <name>/,
  ],
  [['project', 'create', ' '], /argument ' ' is invalid.* A name has 1 to 200 characters/],
  [['project', 'list', 'x'], /too many arguments for 'list'/],
  [['project', 'list', '--server', 'nonsense'], /--server takes an address like https:/],
  [['project', 'delete', ''], /argument '' is invalid.* It must not be empty/],
  [['key', 'revoke', 'shop', ''], /argument '' is invalid.* It must not be empty/],
  [['key', 'create', 'shop'], /required option '--name <name>' not specified/],
  [['backup', ''], /argument '' is invalid.* It must not be empty/],
  [['restore', ''], /argument '' is invalid.* It must not be empty/],
  [['doctor', 'http://127.0.0.1:1/', '--files'], /--files .* leave out the address/],
  [['doctor', '--secret', 'whsec_x'], /--secret .* give its address/],
  [['export', 'http://127.0.0.1:1/', '-o', 'x.csv', '--preset', 'nope'], /Allowed choices are wharf, drf,/],
  [
    ['export', 'http://127.0.0.1:1/', '-o', 'x.csv', '--mask', 'a'],
    /argument 'a' is invalid\. It takes column=mask/,
  ],
  [['export', 'http://127.0.0.1:1/', '-o', ''], /argument '' is invalid.* It must not be empty/],
  [[...AGENT, '--id', ''], /argument '' is invalid.* It must not be empty/],
  [[...AGENT, '--id', 'a', '--listen', 'x'], /argument 'x' is invalid\. It takes HOST:PORT/],
  [[...AGENT, '--id', 'a', '--upload', 'fast'], /argument 'fast' is invalid\. It takes bytes per second/],
]

test.each(MISTAKES)(
  'a command line that cannot be carried out is one line, and ends with 2: %j',
  async (args, words) => {
    const { exited, output } = runWharf(args, { WHARF_DATA_DIR: temporaryFolder() })
    expect({ ...(await exited), out: output.out }).toEqual({ code: 2, signal: null, out: '' })
    expect(output.err).toMatch(new RegExp(`^wharf: [^\\n]*${words.source}[^\\n]*\\n$`))
  },
)

test('a group of commands without one is its help, and ends with 2', async () => {
  const { exited, output } = runWharf(['key'], { WHARF_DATA_DIR: temporaryFolder() })
  expect(await exited).toMatchObject({ code: 2 })
  expect(output.err).toMatch(/^Usage: wharf key [\s\S]*revoke/)
})

test('what an argument refers to and is not there is named, and ends with 1', async () => {
  const folder = temporaryFolder()
  const env = { WHARF_DATA_DIR: folder }
  const missing = [
    [['restore', `${folder}/none`], /^wharf: there is no folder \S+\/none \(BACKUP_INVALID\)\n$/],
    [
      ['export', '--sql', 'select 1', '--connection', `${folder}/none.db`, '-o', `${folder}/x.csv`],
      /^wharf: --connection: there is no file \S+\/none\.db; .*\(REQUEST_INVALID\)\n$/,
    ],
  ] as const
  for (const [args, line] of missing) {
    const { exited, output } = runWharf([...args], env)
    expect(await exited).toMatchObject({ code: 1 })
    expect(output.err).toMatch(line)
  }
})

test('every command says what it does, and so does each of its arguments and options', () => {
  const all = (command: ReturnType<typeof makeProgram>): ReturnType<typeof makeProgram>[] => [
    command,
    ...command.commands.flatMap((one) => all(one as typeof command)),
  ]
  for (const command of all(makeProgram())) {
    expect(command.description(), command.name()).not.toBe('')
    for (const { flags, description } of command.options)
      expect([flags, description]).not.toEqual([flags, ''])
  }
})
