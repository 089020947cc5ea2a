import { readFileSync } from 'node:fs'
import { expect, inject, onTestFinished, test } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { settle } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { openInstallation } from '../../src/tenancy/index.ts'
import { hashSecret } from '../../src/tenancy/secrets.ts'
import { SettingsStore } from '../../src/tenancy/settings-store.ts'
import { openBackend, silentLog } from '../support/backends.ts'
import { borrowDatabase, patient } from '../support/databases.ts'
import { cutAtCommit, type Moment } from '../support/lost-commit.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test.runIf(inject('postgresUrl')).each<[Moment, boolean]>([
  ['before the commit', false],
  ['after the commit', true],
])(
  'a connection that breaks %s: what was done besides is settled as the ledger says',
  async (moment, committed) => {
    const database = await borrowDatabase()
    const { url, arm } = await cutAtCommit(database.url)
    const ledger = await openPostgresLedger(patient(url), silentLog)
    onTestFinished(async () => {
      await ledger.close()
      await database.drop()
    })
    const isMade = async () => (await ledger.db.selectFrom('settings').select('key').execute()).length > 0
    const done: string[] = []
    arm(moment)
    const error = await ledger
      .transaction(async ({ db }) => {
        await db.insertInto('settings').values({ key: 'made', value: '', updated_at: 0 }).execute()
      })
      .catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    const besides = {
      isMade,
      keep: async () => void done.push('kept'),
      undo: async () => void done.push('undone'),
    }
    expect(await settle(ledger, error, besides)).toBe(committed ? 'made' : 'undone')
    expect(done).toEqual([committed ? 'kept' : 'undone'])
    const away = { untilDecided: () => Promise.reject(error) }
    expect(await settle(away, error, besides)).toBe('undecided')
    expect(done).toHaveLength(1)
  },
)

test.each<Moment>(['before the commit', 'after the commit'])(
  'a first start whose connection breaks %s leaves the admin token that the next one has',
  async (moment) => {
    const backend = await openBackend('embedded')
    const ledger = await backend.openLedger()
    onTestFinished(async () => {
      await ledger.close()
      await backend.remove()
    })
    const settings = new SettingsStore(ledger)
    const broken = Object.assign(Object.create(settings) as SettingsStore, {
      getOrCreate: async (key: string, make: () => string) => {
        if (!key.startsWith('admin')) return settings.getOrCreate(key, make)
        if (moment === 'after the commit') await settings.getOrCreate(key, make)
        throw new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the connection broke at the commit')
      },
      get: (key: string) => settings.get(key),
    })
    const folder = temporaryFolder()
    const none = { adminToken: null, sealKey: null }
    await expect(openInstallation(folder, broken, none)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    const { adminTokenHash, adminTokenFile } = await openInstallation(folder, settings, none)
    expect(hashSecret(readFileSync(adminTokenFile!, 'utf8').trim())).toBe(adminTokenHash)
    expect(await settings.get('admin_token_hash')).toBe(adminTokenHash)
    // Another instance has a data dir of its own, and no token in it.
    const other = await openInstallation(temporaryFolder(), settings, none)
    expect(other).toMatchObject({ adminTokenHash, adminTokenFile: null })
  },
)
