import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { Config } from '../../config.ts'
import {
  makeNewFolder,
  messageOf,
  removeTree,
  sizeInWords,
  systemClock,
  writeFile,
} from '../../kernel/index.ts'
import type { LivingInstance } from '../../ledger/index.ts'
import { folderError, namedFolders } from '../ground/folders.ts'
import { localFiles, openStore, remoteStore } from '../ground/store.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const LITTLE_ROOM = 1024 * 1024
const NEARLY_FULL = 0.1
const ANSWER_MS = 10_000

/** Writes a small file, reads it and deletes it: what a bucket or folder allows is known only then. */
export async function checkStore(config: Config): Promise<Finding[]> {
  const refused = await checkUnmade(config)
  const remote = remoteStore(config)
  const at = remote ?? config.filesDir
  const place = remote ?? `the folder ${config.filesDir}`
  const isMissing = remote === null && !existsSync(config.filesDir)
  if (isMissing && refused.some(({ values }) => values?.place === at)) return refused
  if (isMissing)
    return [
      warn('store', `${place} does not exist yet; the first start makes it`, 'store_none', { place: at }),
      ...refused,
    ]
  try {
    await (remote === null && !existsSync(localFiles(config)) ? tryIn(config.filesDir) : tryStore(config))
    return [ok('store', `${place} takes, gives and deletes files`, 'store', { place: at }), ...refused]
  } catch (error) {
    const reason = messageOf(error)
    return [
      fail('store', `${place} cannot be used (${reason})`, 'store_unusable', { place: at, reason }),
      ...refused,
    ]
  }
}

async function tryStore(config: Config): Promise<void> {
  const store = await openStore(config, systemClock)
  const key = `doctor/${randomUUID()}`
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    await store.put(key, oneChunk('probe'), { contentType: 'text/plain', signal })
    const { stream } = await store.open(key)
    for await (const _chunk of stream);
    await store.delete(key)
  } finally {
    await store.close()
  }
}

/** The same where the first start has yet to make the store: nothing of it is left behind. */
async function tryIn(folder: string): Promise<void> {
  const probe = join(folder, `doctor-${randomUUID()}`)
  try {
    await makeNewFolder(probe)
    await writeFile(join(probe, 'probe'), 'probe')
    await readFile(join(probe, 'probe'))
  } finally {
    await removeTree(probe)
  }
}

/** Folders that the settings name, are not there yet, and cannot be made. */
async function checkUnmade(config: Config): Promise<Finding[]> {
  const refused: Finding[] = []
  const unmade: string[] = []
  for (const named of namedFolders(config)) {
    const { folder } = named
    if (existsSync(folder) || unmade.some((above) => folder.startsWith(`${above}${sep}`))) continue
    try {
      await tryIn(nearest(folder))
    } catch (error) {
      unmade.push(folder)
      const { message } = folderError(named, error)
      refused.push(fail('store', message, 'store_unusable', { place: folder, reason: messageOf(error) }))
    }
  }
  return refused
}

/** What is there already of the way to a folder. */
function nearest(folder: string): string {
  const above = dirname(folder)
  return existsSync(above) ? above : nearest(above)
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** Several instances must see the same files. */
export async function checkShared(config: Config, instances: readonly LivingInstance[]): Promise<Finding[]> {
  const { WHARF_SHARED_DIR: shared } = config
  const mayBeMany = config.DATABASE_URL !== null && config.redisUrl !== null
  if (!mayBeMany) return []
  const remote = remoteStore(config)
  if (remote === null && shared === null)
    return [
      warn(
        'store',
        'files are not shared: a second instance would refuse to start; set WHARF_SHARED_DIR or S3_BUCKET on each',
        'files_not_shared',
      ),
    ]
  const odd = instances.filter(({ store }) => store !== remote)
  if (odd.length > 0)
    return [
      fail(
        'store',
        `${named(odd)} keeps files in ${odd[0]?.store ?? 'a folder'}, this one in ${remote ?? 'a folder'}`,
        'store_differs',
        { hosts: hostsOf(odd), theirs: odd[0]?.store ?? '–', ours: remote ?? '–' },
      ),
    ]
  const unseen: LivingInstance[] = []
  for (const instance of instances)
    if (instance.marker !== null && (await markerOf(shared, instance.id)) !== instance.marker)
      unseen.push(instance)
  if (unseen.length > 0)
    return [
      fail(
        'store',
        `the marker of ${named(unseen)} is not in ${shared}: it is not the same folder on all instances`,
        'folder_differs',
        { hosts: hostsOf(unseen), folder: shared ?? '' },
      ),
    ]
  const alone = shared === null ? '; runs and processing also need WHARF_SHARED_DIR' : ''
  const kind = shared === null ? 'files_shared_partly' : 'files_shared'
  return [ok('store', `files are shared${alone}`, kind)]
}

function named(instances: readonly LivingInstance[]): string {
  return `the instance on ${hostsOf(instances, ' and ')}`
}

function hostsOf(instances: readonly LivingInstance[], between = ', '): string {
  return [...new Set(instances.map(({ host }) => host))].join(between)
}

async function markerOf(shared: string | null, id: string): Promise<string | null> {
  if (shared === null) return null
  return readFile(join(shared, 'instances', id), 'utf8').then(
    (text) => text.trim(),
    () => null,
  )
}

export async function checkDisks({ WHARF_DATA_DIR, filesDir }: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const folder of new Set([WHARF_DATA_DIR, filesDir])) {
    if (!existsSync(folder)) continue
    const { bavail, blocks, bsize } = await statfs(folder)
    const [free, size] = [bavail * bsize, blocks * bsize]
    const text = `${sizeInWords(free)} of ${sizeInWords(size)} are free for ${folder}`
    const values = { free_bytes: free, size_bytes: size, folder }
    if (free < LITTLE_ROOM)
      findings.push(fail('disk', `${text}: nothing new is accepted`, 'disk_full', values))
    else if (free < size * NEARLY_FULL)
      findings.push(warn('disk', `${text}: less than a tenth`, 'disk', values))
    else findings.push(ok('disk', text, 'disk', values))
  }
  return findings
}
