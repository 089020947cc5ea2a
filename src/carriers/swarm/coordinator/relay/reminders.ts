import { type Backoff, backoffDelay } from '../../../../kernel/index.ts'
import type { PeerId } from '../../wire/index.ts'

interface Told {
  /** When the order was last sent, or the agent last reported on the task, and how often in vain since. */
  order: Try
  assigned: (Try & { parent: PeerId; confirmed: boolean }) | undefined
}

interface Try {
  at: number
  tries: number
}

/** The longest pause is how late an agent is reached at most, once messages arrive again. */
const AGAIN: Backoff = { base: 2_000, factor: 2, max: 10_000, jitter: 0 }

/**
 * Knows what agents have not confirmed. A message to an agent of another instance may be lost, and so may its answer; the
 * agent's reports show what it knows. One that does not report on the task has not heard of it, or is not heard; one
 * that reports another parent than it was given has missed the message.
 */
export class Reminders {
  readonly #told = new Map<PeerId, Told>()
  readonly #ends = new Map<string, Try>()

  ordered(peer: PeerId, now: number): void {
    this.#told.set(peer, { order: { at: now, tries: 1 }, assigned: undefined })
  }

  assigned(peer: PeerId, parent: PeerId, now: number): void {
    const told = this.#told.get(peer)
    if (told) told.assigned = { parent, confirmed: false, at: now, tries: 1 }
  }

  reported(peer: PeerId, parent: PeerId | null, now: number): void {
    const told = this.#told.get(peer)
    if (!told) return
    told.order = { at: now, tries: 1 }
    if (told.assigned) told.assigned.confirmed = told.assigned.parent === parent
  }

  forget(peer: PeerId): void {
    this.#told.delete(peer)
  }

  /** Who must get a message again: with the task and its parent, or with its parent alone. */
  due(now: number): { peer: PeerId; what: 'order' | 'parent' }[] {
    const due: { peer: PeerId; what: 'order' | 'parent' }[] = []
    for (const [peer, { order, assigned }] of this.#told) {
      if (isDue(order, now)) {
        again(order, now)
        if (assigned) again(assigned, now)
        due.push({ peer, what: 'order' })
      } else if (assigned && !assigned.confirmed && isDue(assigned, now)) {
        again(assigned, now)
        due.push({ peer, what: 'parent' })
      }
    }
    return due
  }

  /** True if an agent still reports on a task that it was asked to end, and must be asked again. */
  mustEnd(key: string, now: number): boolean {
    const told = this.#ends.get(key)
    if (told && !isDue(told, now)) return false
    this.#ends.set(key, { at: now, tries: (told?.tries ?? 0) + 1 })
    return true
  }
}

function isDue({ at, tries }: Try, now: number): boolean {
  return now - at > backoffDelay(tries, AGAIN)
}

function again(told: Try, now: number): void {
  told.at = now
  told.tries++
}
