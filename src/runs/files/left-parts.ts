import type { AccountFolder } from './account-folder.ts'
import { markOf, type PartName, partName } from './part-name.ts'

export interface LeftPartsOptions {
  runId: string
  claim: number
  alone: boolean
}

/** Downloads that were in flight when a worker died or a run failed: their bytes need not be fetched again. */
export class LeftParts {
  readonly #folder: AccountFolder
  readonly #options: LeftPartsOptions
  readonly #left = new Map<string, PartName[]>()

  constructor(folder: AccountFolder, options: LeftPartsOptions) {
    this.#folder = folder
    this.#options = options
  }

  async find(): Promise<void> {
    for (const part of await this.#folder.parts()) {
      const others = this.#left.get(part.name) ?? []
      this.#left.set(part.name, [...others, part])
    }
  }

  /** The part file to use for a name, with the bytes that it already has. */
  async of(name: string): Promise<{ part: string; have: number }> {
    const mine = { name, mark: markOf(this.#options.runId), claim: this.#options.claim }
    const part = partName(mine)
    const [first, ...rest] = this.#left.get(name) ?? []
    if (!first) return { part, have: 0 }
    this.#left.delete(name)
    for (const other of rest) await this.#folder.remove(partName(other))
    await this.#folder.takeOver(first, mine, this.#options)
    const have = await this.#folder.look(part)
    return { part, have: typeof have === 'number' ? have : 0 }
  }
}
