import { type Duty, type Log, messageOf } from '../../kernel/index.ts'
import type { HandOff } from '../files/index.ts'
import type { TaskStore } from '../stores/index.ts'

export interface MendDeps {
  store: TaskStore
  handOff: HandOff
  /** Left out: by the clock of the file system. */
  now?: () => Promise<number>
  log: Log
}

/** Finishes or undoes hand-offs that a crash broke off. */
export class MendHandOffsDuty implements Duty {
  readonly name = 'mend-hand-offs'
  readonly #deps: MendDeps

  constructor(deps: MendDeps) {
    this.#deps = deps
  }

  /** A hand-off that moved lately may be another instance's, and under way. */
  async runOnce(): Promise<{ mended: number }> {
    return this.#mend()
  }

  /** For a process that is alone and takes no calls yet: whatever is half done is broken off. */
  async runAlone(): Promise<void> {
    try {
      await this.#mend(0)
    } catch (error) {
      this.#deps.log.warn(
        { reason: messageOf(error) },
        'hand-offs that a crash broke off are mended later: the store of tasks is away',
      )
    }
  }

  async #mend(graceMs?: number): Promise<{ mended: number }> {
    const { store, handOff, now = () => handOff.now(), log } = this.#deps
    const exists = async (id: string) => (await store.get(id)) !== undefined
    const mended = await handOff.recover(exists, {
      ...(graceMs !== undefined && { graceMs }),
      now: await now(),
    })
    if (mended > 0) log.info({ mended }, 'hand-offs that a crash broke off were mended')
    return { mended }
  }
}
