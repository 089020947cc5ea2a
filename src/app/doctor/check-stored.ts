import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { counted, ERRORS, isAppError, messageOf, sizeInWords, systemClock } from '../../kernel/index.ts'
import { type Ask, askPostgres, askSqlite } from '../../ledger/index.ts'
import type { ArtifactStore } from '../../storage/index.ts'
import { noWharfIn } from '../ground/no-wharf.ts'
import { openStore } from '../ground/store.ts'
import { type Finding, fail, ok } from './finding.ts'

interface Recorded {
  key: string
  sha256: string
}

const PAGE = 500
/** More than these are counted, not named. */
const MOST_NAMED = 20

/** Each gives the next page of what is recorded, from a key on. */
const KINDS: ((ask: Ask, after: string) => Promise<{ last: string; files: Recorded[] } | undefined>)[] = [
  async (ask, after) => {
    const rows = await ask(
      `select artifact_key as key, result from export_files join jobs on jobs.id = export_files.job_id
        where removed_at is null and expires_at > ? and artifact_key > ? order by artifact_key limit ${PAGE}`,
      Date.now(),
      after,
    )
    const files = rows.map(({ key, result }) => ({ key: String(key), ...JSON.parse(String(result ?? '{}')) }))
    return rows.length === 0 ? undefined : { last: String(rows.at(-1)?.key), files }
  },
  async (ask, after) => {
    const rows = await ask(
      `select job_id, tables from export_rows
        where removed_at is null and expires_at > ? and job_id > ? order by job_id limit ${PAGE}`,
      Date.now(),
      after,
    )
    const files = rows.flatMap(({ tables }) =>
      (JSON.parse(String(tables)) as { kept: Recorded }[]).map(({ kept }) => kept),
    )
    return rows.length === 0 ? undefined : { last: String(rows.at(-1)?.job_id), files }
  },
  async (ask, after) => {
    const rows = await ask(
      `select artifact_key as key, signature as sha256 from repository_files
        where superseded_at is null and artifact_key > ? order by artifact_key limit ${PAGE}`,
      after,
    )
    const files = rows as unknown as Recorded[]
    return files.length === 0 ? undefined : { last: String(files.at(-1)?.key), files }
  },
]

/** `wharf doctor --files`: reads every stored file whose hash is recorded, and compares the two. */
export async function checkStored(config: Config, signal: AbortSignal): Promise<Finding[]> {
  try {
    const missing = await noWharfIn(config)
    return missing === undefined ? await compare(config, signal) : [fail('store', missing)]
  } catch (error) {
    if (signal.aborted) throw error
    return [fail('store', `the stored files cannot be compared (${messageOf(error)})`)]
  }
}

async function compare(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const store = await openStore(config, systemClock)
  try {
    const work = (ask: Ask) => readAll(ask, store, signal)
    const { DATABASE_URL: url, WHARF_DATA_DIR: dataDir } = config
    return await (url === null ? askSqlite(join(dataDir, 'ledger.db'), work) : askPostgres(url, work))
  } finally {
    await store.close()
  }
}

async function readAll(ask: Ask, store: ArtifactStore, signal: AbortSignal): Promise<Finding[]> {
  const wrong: string[] = []
  let [count, bytes] = [0, 0]
  for (const page of KINDS)
    for (let found = await page(ask, ''); found; found = await page(ask, found.last))
      for (const { key, sha256 } of found.files) {
        // Rows that were kept by an older version have no hash.
        if (sha256 === undefined) continue
        signal.throwIfAborted()
        const read = await readOne(store, { key, sha256 }, signal)
        if (typeof read === 'string') wrong.push(`${key}: ${read}`)
        else bytes += read
        count += 1
      }
  const all = `${counted(count, 'file')}, ${sizeInWords(bytes)} read`
  if (wrong.length === 0) return [ok('store', `${all}: all are as they were stored`)]
  const rest = wrong.length > MOST_NAMED ? [fail('store', `and ${wrong.length - MOST_NAMED} more`)] : []
  const named = wrong.slice(0, MOST_NAMED).map((text) => fail('store', text))
  return [fail('store', `${all}: ${wrong.length} are not as they were stored`), ...named, ...rest]
}

/** Its size, or what is wrong with it. */
async function readOne(
  store: ArtifactStore,
  { key, sha256 }: Recorded,
  signal: AbortSignal,
): Promise<number | string> {
  try {
    const hash = createHash('sha256')
    let size = 0
    const { stream } = await store.open(key, { signal })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk)
      size += chunk.length
    }
    return hash.digest('hex') === sha256 ? size : 'it has other bytes than when it was stored'
  } catch (error) {
    if (isAppError(error, ERRORS.ARTIFACT_DAMAGED) || isAppError(error, ERRORS.ARTIFACT_NOT_FOUND))
      return messageOf(error)
    throw error
  }
}
