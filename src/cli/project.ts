import { type Command, InvalidArgumentError, Option } from 'commander'
import type { NewKey, ProjectAdmin, Rotation } from '../app/admin.ts'
import { loadConfig } from '../config.ts'
import { AppError, counted, ERRORS, readIsoTime, SCOPES, type Scope, SHOWN_NAME } from '../kernel/index.ts'
import { given } from './options/given.ts'
import { serverAddress } from './options/server-address.ts'
import { wholeNumber } from './options/source-options.ts'
import { table } from './terminal/table.ts'

interface AdminOptions {
  server?: string
  json?: boolean
}

const SHOWN_ONCE = 'Keep them now: they are not shown again.'
const DAY = 86_400_000
const PROJECT = 'its id, or its name where no other project has the same'

export function addProjectCommands(program: Command): void {
  const project = program
    .command('project')
    .description('register business systems, and change or end what they have')
  addAdminOptions(
    project
      .command('create')
      .description('register a project; prints its key and its webhook secret')
      .argument('<name>', 'what people call it', checkedName),
  ).action((name: string, options: AdminOptions) =>
    run(options, async (admin) => {
      const made = await admin.createProject(name)
      await warnOfTwins(admin, made)
      return [
        made,
        lines(
          { project: made.project_id, 'API key': made.api_key, 'webhook secret': made.webhook_secret },
          SHOWN_ONCE,
        ),
      ]
    }),
  )
  addAdminOptions(project.command('list').description('all projects')).action((options: AdminOptions) =>
    run(options, async (admin) => {
      const items = await admin.projects()
      return [
        { items },
        table(
          ['PROJECT', 'NAME', 'CREATED'],
          items.map((p) => [p.project_id, p.name, p.created_at]),
        ),
      ]
    }),
  )
  addAdminOptions(
    project
      .command('rotate')
      .description("replace a project's key or webhook secret")
      .argument('<project>', PROJECT, given),
  )
    .addOption(
      new Option('--what <secret>', 'which one').choices(['api_key', 'webhook_secret']).default('api_key'),
    )
    .option(
      '--grace-hours <n>',
      'how long the old one stays good; 0 ends it at once',
      wholeNumber(0, 720),
      24,
    )
    .action((name: string, options: AdminOptions & { what: Rotation['what']; graceHours: number }) =>
      run(options, async (admin) => {
        const wish = { what: options.what, grace_hours: options.graceHours }
        const rotated = await admin.rotate(await idOf(admin, name), wish)
        const { api_key, webhook_secret, old_expires_at } = rotated
        const shown = {
          'API key': api_key,
          'webhook secret': webhook_secret,
          'the old one ends': old_expires_at ?? 'there was none',
        }
        return [rotated, lines(shown, 'Keep it now: it is not shown again.')]
      }),
    )
  addAdminOptions(
    project
      .command('delete')
      .description('delete a project that has no unfinished tasks, with its keys')
      .argument('<project>', PROJECT, given),
  ).action((name: string, options: AdminOptions) =>
    run(options, async (admin) => {
      const project_id = await idOf(admin, name)
      await admin.deleteProject(project_id)
      return [{ project_id }, `project ${project_id} is deleted`]
    }),
  )
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description("a project's keys: each with a name, scopes and an end")
  addAdminOptions(
    key.command('create').description('make a key and print it').argument('<project>', PROJECT, given),
  )
    .requiredOption('--name <name>', 'what it is for', checkedName)
    .addOption(
      new Option('--scope <scope>', 'what it may do; may be given several times')
        .choices(SCOPES)
        .argParser(collectScope)
        .default(undefined, 'all, which is everything that the project may do'),
    )
    .option(
      '--expires <when>',
      'its end: a time like 2030-01-01T00:00:00Z, or days like 90d (default: never)',
      endOf,
    )
    .action((name: string, options: AdminOptions & { name: string; scope?: Scope[]; expires?: string }) =>
      run(options, async (admin) => {
        const wish: NewKey = {
          name: options.name,
          scopes: options.scope ?? ['all'],
          ...(options.expires !== undefined && { expires_at: options.expires }),
        }
        const made = await admin.createKey(await idOf(admin, name), wish)
        const shown = {
          key: made.key_id,
          'API key': made.api_key,
          scopes: made.scopes.join(', '),
          ends: made.expires_at ?? 'never',
        }
        const warning = warningOf(made.scopes)
        if (warning !== undefined) console.error(`wharf: ${warning}`)
        return [made, lines(shown, 'Keep it now: it is not shown again.')]
      }),
    )
  addAdminOptions(
    key.command('list').description('the keys that are good').argument('<project>', PROJECT, given),
  ).action((name: string, options: AdminOptions) =>
    run(options, async (admin) => {
      const items = await admin.keys(await idOf(admin, name))
      const rows = items.map((k) => [
        k.key_id,
        k.name,
        k.scopes.join(','),
        k.expires_at ?? 'never',
        k.last_used_at ?? 'never',
      ])
      return [{ items }, table(['KEY', 'NAME', 'SCOPES', 'ENDS', 'LAST USED'], rows)]
    }),
  )
  addAdminOptions(
    key
      .command('revoke')
      .description('end a key at once, with its tickets, links and streams')
      .argument('<project>', PROJECT, given)
      .argument('<key_id>', "its id, as 'wharf key list' shows it", given),
  ).action((name: string, key_id: string, options: AdminOptions) =>
    run(options, async (admin) => {
      await admin.revokeKey(await idOf(admin, name), key_id)
      return [{ key_id }, `key ${key_id} is ended`]
    }),
  )
}

function addAdminOptions(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'a running Wharf, with WHARF_ADMIN_TOKEN (default: the one of the settings)',
      serverAddress,
    )
    .option('--json', 'print the answer as JSON')
}

async function run(
  options: AdminOptions,
  deed: (admin: ProjectAdmin) => Promise<[answer: object, text: string]>,
): Promise<void> {
  const { openProjectAdmin } = await import('../app/admin.ts')
  const admin = await openProjectAdmin(loadConfig(process.env), options.server)
  try {
    const [answer, text] = await deed(admin)
    console.log(options.json ? JSON.stringify(answer, null, 2) : text)
  } finally {
    await admin.close()
  }
}

/** What names a project by its name names none of them from now on. The project is made, so this may not fail. */
async function warnOfTwins(
  admin: ProjectAdmin,
  { project_id: id, name }: { project_id: string; name: string },
): Promise<void> {
  const all = await admin.projects().catch(() => [])
  const ids = all.filter((other) => other.name === name && other.project_id !== id).map((p) => p.project_id)
  if (ids.length === 0) return
  console.error(
    `wharf: another project is named ${name}: ${ids.join(', ')}. Commands take these projects by their ids only, and roles like operator:${name} give nothing until one is deleted.`,
  )
}

/** Projects may be named by id, or by name where it is the only one. */
async function idOf(admin: ProjectAdmin, idOrName: string): Promise<string> {
  const all = await admin.projects()
  if (all.some(({ project_id }) => project_id === idOrName)) return idOrName
  const named = all.filter(({ name }) => name === idOrName)
  if (named.length === 1 && named[0]) return named[0].project_id
  if (named.length === 0) throw new AppError(ERRORS.PROJECT_NOT_FOUND, `there is no project ${idOrName}`)
  const ids = named.map(({ project_id }) => project_id).join(', ')
  throw new AppError(
    ERRORS.REQUEST_INVALID,
    `${counted(named.length, 'project')} are named ${idOrName}; give an id: ${ids}`,
  )
}

function checkedName(name: string): string {
  if (name.trim() !== '' && name.length <= 200 && SHOWN_NAME.test(name)) return name
  throw new InvalidArgumentError('A name has 1 to 200 characters, and no control characters.')
}

function collectScope(value: string, before: Scope[] = []): Scope[] {
  const scope = SCOPES.find((known) => known === value)
  if (scope === undefined) throw new InvalidArgumentError(`Allowed choices are ${SCOPES.join(', ')}.`)
  return before.includes(scope) ? before : [...before, scope]
}

/** For a key that may do more than its caller most likely needs. */
function warningOf(scopes: readonly Scope[]): string | undefined {
  if (scopes.includes('admin'))
    return 'this key may do everything that the admin token may (scope admin); without --scope admin it would not'
  if (scopes.includes('all'))
    return "this key may do everything that its project may (scope all); give --scope for less, such as '--scope read'"
  return undefined
}

function endOf(text: string): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const time = days === undefined ? readIsoTime(text) : Date.now() + Number(days) * DAY
  if (time !== undefined) return new Date(time).toISOString()
  throw new InvalidArgumentError('It takes a time like 2030-01-01T00:00:00Z, or days like 90d.')
}

function lines(values: Record<string, string | undefined>, note: string): string {
  const rows = Object.entries(values).filter((row): row is [string, string] => row[1] !== undefined)
  const width = Math.max(...rows.map(([name]) => name.length))
  return [...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`), '', note].join('\n')
}
