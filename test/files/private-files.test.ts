import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, statSync, watch, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openFolders, warnOfLooseFiles } from '../../src/app/ground/folders.ts'
import { loadConfig } from '../../src/config.ts'
import { findLoose, type Log, makeFolderSync, takeFolder } from '../../src/kernel/index.ts'
import { MixedLoad, processorCommand } from '../history/mixed-load.ts'
import { openBackend } from '../support/backends.ts'
import { newProject, startHttp } from '../support/http.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const modeOf = (path: string) => statSync(path).mode & 0o777
const octal = (mode: number) => mode.toString(8)

// The most careless umask that there is: modes come from Wharf alone.
beforeAll(() => {
  process.umask(0)
})

test('[host-user] whatever the umask, only the folders that are shared are open to a group, and nothing to all', async () => {
  const backend = await openBackend('embedded')
  const dataDir = backend.env.WHARF_DATA_DIR as string
  // As an operator would leave it.
  chmodSync(dataDir, 0o755)
  const open = new Map<string, string>()
  const check = (path: string) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found || found.isSymbolicLink()) return
    const name = path.slice(dataDir.length + 1)
    const isShared = ['videos', 'temp'].includes(name.split(sep)[0] ?? '')
    const allowed = isShared ? 0o770 : 0o700
    const isLoose = (found.mode & 0o777 & ~allowed) !== 0 || (found.isFile() && (found.mode & 0o111) !== 0)
    // What tus and the processor write is closed by the folder that it is in.
    if (isLoose && !isShared) open.set(name, octal(found.mode & 0o777))
  }
  const watcher = watch(dataDir, { recursive: true }, (_event, name) => {
    if (name !== null) check(join(dataDir, name))
  })
  onTestFinished(() => {
    watcher.close()
    return backend.remove()
  })
  const wharf = await startHttp('embedded', {
    backend,
    env: {
      ...{ PROCESSOR_COMMAND: processorCommand(), TASK_PROCESSOR_CONCURRENCY: '2' },
      ...{ COLLECT_WINDOW_SECONDS: '1', WHARF_EXPORT_CONCURRENCY: '1', WHARF_LEASE_SECONDS: '2' },
    },
  })
  await new MixedLoad(wharf, await newProject(wharf)).run()
  const names = await readdir(dataDir, { recursive: true })
  expect(names.length).toBeGreaterThan(20)
  check(dataDir)
  for (const name of names) check(join(dataDir, name))
  expect(Object.fromEntries(open)).toEqual({})
  for (const shared of ['videos', 'temp']) expect(octal(modeOf(join(dataDir, shared)))).toBe('770')
  expect(octal(modeOf(dataDir))).toBe('700')
})

test('[host-user] a start warns about what is open already, and says how to close it', async () => {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'accounts', 'anna'), { recursive: true, mode: 0o755 })
  writeFileSync(join(dataDir, 'accounts', 'anna', 'photo.jpg'), 'x', { mode: 0o644 })
  mkdirSync(join(dataDir, 'videos'), { mode: 0o770 })
  const warnings: string[] = []
  const log = { warn: (_: object, text: string) => warnings.push(text) } as unknown as Log
  const config = loadConfig({ WHARF_DATA_DIR: dataDir })
  openFolders(config)
  await warnOfLooseFiles(config, log)
  expect(warnings).toEqual([expect.stringMatching(`: chmod -R go= ${join(dataDir, 'accounts')}$`)])
  expect(await findLoose(dataDir, { shared: [config.LOCAL_STORAGE_PATH] })).toMatchObject({ count: 3 })
})

test('[host-user] the commands of that warning close what Wharf made, and touch nothing else', async () => {
  const dataDir = join(temporaryFolder(), "it's a folder")
  const folder = (name: string, mode: number) => {
    mkdirSync(join(dataDir, name), { recursive: true })
    chmodSync(join(dataDir, name), mode)
  }
  const file = (name: string) => writeFileSync(join(dataDir, name), 'x', { mode: 0o644 })
  folder('files/shared', 0o770)
  folder('files', 0o755)
  folder('letters', 0o755)
  for (const name of ['files/shared/clip', 'files/report', 'letters/one', 'notes.txt', 'admin-token'])
    file(name)
  chmodSync(dataDir, 0o755)
  const commands: string[] = []
  const log = { warn: (found: { commands: string[] }) => commands.push(...found.commands) } as unknown as Log
  const config = loadConfig({ WHARF_DATA_DIR: dataDir, LOCAL_STORAGE_PATH: join(dataDir, 'files', 'shared') })
  await warnOfLooseFiles(config, log)
  expect(commands).toHaveLength(3)
  for (const command of commands) expect(spawnSync('sh', ['-c', command])).toMatchObject({ status: 0 })
  const modes = Object.fromEntries(
    [
      '',
      'files',
      'files/report',
      'admin-token',
      'files/shared',
      'files/shared/clip',
      'letters',
      'letters/one',
      'notes.txt',
    ].map((name) => [name, octal(modeOf(join(dataDir, name)))]),
  )
  expect(modes).toEqual({
    '': '700',
    files: '700',
    'files/report': '600',
    'admin-token': '600',
    'files/shared': '770',
    'files/shared/clip': '644',
    letters: '755',
    'letters/one': '644',
    'notes.txt': '644',
  })
  await warnOfLooseFiles(config, log)
  expect(commands).toHaveLength(3)
})

test('a folder that is there is tightened if it is Wharf’s own, and left alone if others use it too', () => {
  const folder = temporaryFolder()
  const make = (name: string, mode: number, content?: string) => {
    const path = join(folder, name)
    mkdirSync(path)
    chmodSync(path, mode)
    if (content) writeFileSync(join(path, content), '')
    takeFolder(path)
    return octal(statSync(path).mode & 0o7777)
  }
  expect(make('empty', 0o755)).toBe('700')
  expect(make('ours', 0o777, 'ledger.db')).toBe('700')
  expect(make('passage', 0o710, 'ledger.db')).toBe('710')
  expect(make('theirs', 0o755, 'letters.txt')).toBe('755')
  expect(make('tmp', 0o1777)).toBe('1777')
  const below = join(folder, 'new', 'below')
  makeFolderSync(below, { folder: 0o750, file: 0o640 })
  expect(octal(modeOf(below))).toBe('750')
})
