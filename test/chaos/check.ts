import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openEvents } from '../support/event-readers.ts'
import { ADMIN_TOKEN } from '../support/http.ts'
import { until } from '../support/until.ts'
import type { Cluster } from './cluster.ts'
import type { ChaosLoad } from './load.ts'

/** What must be true once everything is whole again and all that was accepted has ended. Returns what is not. */
export async function check(cluster: Cluster, load: ChaosLoad): Promise<string[]> {
  return [
    ...load.wrong,
    ...callbacks(load),
    ...(await ledger(cluster)),
    ...(await redis(cluster)),
    ...(await events(cluster, load)),
    ...(await objects(cluster)),
    ...(await leftOvers(cluster)),
  ]
}

function callbacks(load: ChaosLoad): string[] {
  return load.exports
    .filter((task) => load.callbacks.get(task)?.size !== 1)
    .map((task) => `export ${task} has the callbacks ${[...(load.callbacks.get(task) ?? [])]}`)
}

/** No job is left, none ended badly, and nobody holds a place in a lane. */
async function ledger({ backend }: Cluster): Promise<string[]> {
  const opened = await backend.openLedger()
  try {
    const unfinished = () =>
      opened.db
        .selectFrom('jobs')
        .select(['id', 'kind', 'state', 'attempts', 'error_code', 'error_message'])
        .where('state', '<>', 'succeeded')
        .execute()
    // The last callbacks and deliveries end after the tasks that they belong to.
    const active = ['waiting', 'pending', 'running']
    await until('no job is under way', unfinished, (jobs) =>
      jobs.every(({ state }) => !active.includes(state)),
    )
    return (await unfinished()).map((job) => `a job did not succeed: ${JSON.stringify(job)}`)
  } finally {
    await opened.close()
  }
}

/** No list holds a task that nobody works on. */
async function redis({ redis: { url }, backend }: Cluster): Promise<string[]> {
  const { Redis } = await import('ioredis')
  const opened = new Redis(url)
  try {
    const lists = [String(backend.env.TASK_QUEUE_KEY), `${backend.env.WHARF_REDIS_PREFIX}:task-restoring`]
    const slots = await opened.keys(`${backend.env.WHARF_REDIS_PREFIX}:processor:*`)
    const lengths = () => Promise.all([...lists, ...slots].map((key) => opened.llen(key)))
    await until('no list holds a task', lengths, (all) => all.every((length) => length === 0))
    return []
  } finally {
    opened.disconnect()
  }
}

/** Readers on different instances see the same log, without a gap, and one end for each export. */
async function events({ nodes }: Cluster, load: ChaosLoad): Promise<string[]> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const readers = await Promise.all(
    nodes.slice(0, 2).map(({ front }) => openEvents(`${front.url}/api/events?after=0`, headers)),
  )
  const isEnd = ({ type }: { type: string }) => type === 'export.succeeded'
  for (const { messages } of readers)
    await until(
      'the whole log is read',
      () => new Set(messages.filter(isEnd).map(({ task_id }) => task_id)).size,
      (ends) => ends === load.exports.length,
    )
  const wrong: string[] = []
  const [one = [], two = []] = readers.map(({ messages }) => messages)
  const length = Math.min(one.length, two.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one[at]!, two[at]!]
    if (JSON.stringify(a) !== JSON.stringify(b)) wrong.push(`event ${a.seq} differs between instances`)
    if (a.seq !== (at === 0 ? a.seq : one[at - 1]!.seq + 1)) wrong.push(`a gap in the log before ${a.seq}`)
  }
  const ends = one.filter(isEnd).map(({ task_id }) => task_id)
  if (new Set(ends).size !== ends.length) wrong.push('an export has ended twice')
  return wrong
}

/** Every finished file is in the store. */
async function objects(cluster: Cluster): Promise<string[]> {
  return (await finishedFiles(cluster))
    .filter((key) => !cluster.s3.objects.has(key))
    .map((key) => `the store lacks ${key}`)
}

/** Whatever killed and overtaken claims have left on disks and in the store goes when the instances start again. */
async function leftOvers(cluster: Cluster): Promise<string[]> {
  for (const node of cluster.nodes) {
    await node.end('SIGTERM')
    await node.start()
  }
  const files = new Set(await finishedFiles(cluster))
  await until(
    'no spool, object or upload is left over',
    () => [
      ...cluster.nodes.flatMap(({ dataDir }) => readdirSync(join(dataDir, 'spool'))),
      ...[...cluster.s3.objects.keys()].filter((key) => key.startsWith('exports/') && !files.has(key)),
    ],
    (found) => found.length === 0,
  )
  return []
}

async function finishedFiles({ backend }: Cluster): Promise<string[]> {
  const opened = await backend.openLedger()
  try {
    const rows = await opened.db
      .selectFrom('export_files')
      .select('artifact_key')
      .where('removed_at', 'is', null)
      .execute()
    return rows.map(({ artifact_key }) => artifact_key)
  } finally {
    await opened.close()
  }
}
