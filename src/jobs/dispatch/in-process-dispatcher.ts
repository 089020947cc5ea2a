import { background } from '../../kernel/index.ts'
import type { Consumer, Dispatcher, Take, Wake } from './dispatcher.ts'

interface Taker {
  free: number
  take: Take
  offered: Set<string>
}

interface Pool {
  queue: string[]
  consumers: Taker[]
}

const LONGEST_TIMER = 2 ** 31 - 1

/** For one process: a queue in memory. What it forgets at a restart, the ledger publishes again. */
export class InProcessDispatcher implements Dispatcher {
  readonly #pools = new Map<string, Pool>()
  readonly #timers = new Set<NodeJS.Timeout>()

  async publish(wakes: readonly Wake[]): Promise<void> {
    for (const wake of wakes) {
      if (wake.delayMs <= 0) this.#push(wake.id, wake.pool)
      else this.#later(wake)
    }
  }

  consume(poolName: string, slots: number, take: Take): Consumer {
    const pool = this.#pool(poolName)
    const consumer = { free: slots, take, offered: new Set<string>() }
    pool.consumers.push(consumer)
    this.#deliver(pool)
    return {
      offer: (id) => {
        consumer.offered.add(id)
        this.#deliver(pool)
      },
      stop: async () => {
        pool.consumers = pool.consumers.filter((other) => other !== consumer)
      },
    }
  }

  async forgot(): Promise<boolean> {
    return false
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    for (const pool of this.#pools.values()) pool.consumers = []
    this.#pools.clear()
  }

  #later(wake: Wake): void {
    const step = Math.min(wake.delayMs, LONGEST_TIMER)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      background('publishing a wake-up', this.publish([{ ...wake, delayMs: wake.delayMs - step }]))
    }, step)
    timer.unref()
    this.#timers.add(timer)
  }

  #push(id: string, poolName: string): void {
    const pool = this.#pool(poolName)
    pool.queue.push(id)
    this.#deliver(pool)
  }

  #pool(name: string): Pool {
    let pool = this.#pools.get(name)
    if (!pool) {
      pool = { queue: [], consumers: [] }
      this.#pools.set(name, pool)
    }
    return pool
  }

  #deliver(pool: Pool): void {
    for (const consumer of pool.consumers)
      for (const id of consumer.offered) {
        if (consumer.free <= 0) break
        consumer.offered.delete(id)
        this.#hand(pool, consumer, id, true)
      }
    while (pool.queue.length > 0) {
      const consumer = pool.consumers.find((candidate) => candidate.free > 0)
      if (!consumer) return
      this.#hand(pool, consumer, pool.queue.shift() as string)
    }
  }

  #hand(pool: Pool, consumer: Taker, id: string, offered = false): void {
    consumer.free--
    const taken = consumer.take(id, offered).finally(() => {
      consumer.free++
      this.#deliver(pool)
    })
    background('taking a job', taken)
  }
}
