import { type Ledger, now } from '../ledger/index.ts'

/** Small values that all instances share. */
export class SettingsStore {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async get(key: string): Promise<string | undefined> {
    const row = await this.#ledger.db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', key)
      .executeTakeFirst()
    return row?.value
  }

  async set(key: string, value: string): Promise<void> {
    await this.#ledger.db
      .insertInto('settings')
      .values({ key, value, updated_at: now })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, updated_at: now }))
      .execute()
  }

  /** The value that is there, or the one that `make` makes; several instances asking at once get the same. */
  async getOrCreate(key: string, make: () => string): Promise<string> {
    await this.#ledger.db
      .insertInto('settings')
      .values({ key, value: make(), updated_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return (await this.get(key)) as string
  }
}
