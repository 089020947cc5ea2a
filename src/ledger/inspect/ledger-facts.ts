import { knownSchema as newestSchema } from '../migrate.ts'

/** A living instance, as it said of itself in the ledger. */
export interface LivingInstance {
  id: string
  host: string
  version: string
  store: string | null
  marker: string | null
}

/** What somebody who looks at an installation wants to know of its ledger. */
export interface LedgerFacts {
  /** Of the database. */
  version: string
  /** Of the schema that is there; null: none yet. */
  schema: number | null
  /** Of the schema that this Wharf makes. */
  knownSchema: number
  /** How far the ledger's clock is ahead of this machine's; null where they are the same. */
  aheadMs: number | null
  instances: LivingInstance[]
  /** As `wharf backup` left it in the settings. */
  lastBackup: string | null
  /** The settings by which a key of secrets is known to be the right one. */
  seals: ReadonlyMap<string, string>
  /** Of PostgreSQL. */
  connections: { most: number; used: number } | null
  /** Settings of PostgreSQL that may lose what was committed. */
  unsafe: string[]
}

/** Sends one statement, whose parameters are `?`. */
export type Ask = (
  statement: string,
  ...parameters: (string | number)[]
) => Promise<Record<string, unknown>[]>

/** What both databases are asked alike. Nothing is written, and no lock is taken. */
export async function readCommonFacts(
  ask: Ask,
  { hasTables, aliveSince }: { hasTables: boolean; aliveSince: number },
) {
  const knownSchema = newestSchema()
  if (!hasTables)
    return { schema: null, knownSchema, instances: [], lastBackup: null, seals: new Map<string, string>() }
  const [versions] = await ask('select max(version) as version from schema_versions')
  const schema = Number(versions?.version ?? 0)
  const instances = (await ask(
    'select id, host, version, store, marker from instances where seen_at > ?',
    aliveSince,
  )) as unknown as LivingInstance[]
  const [backup] = await ask('select value from settings where key = ?', 'last_backup_at')
  const lastBackup = (backup?.value as string | undefined) ?? null
  const found = await ask("select key, value from settings where key like 'seal\\_%' escape '\\'")
  const seals = new Map(found.map(({ key, value }) => [String(key), String(value)]))
  return { schema, knownSchema, instances, lastBackup, seals }
}
