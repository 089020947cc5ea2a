import type { Consumer, Wake } from '../../src/jobs/dispatch/dispatcher.ts'
import type { Dispatcher } from '../../src/jobs/index.ts'

/** Passes on to a real dispatcher, remembers what was published, and can lose it on the way. */
export class WatchedDispatcher implements Dispatcher {
  readonly published: Wake[] = []
  loses = false
  readonly #inner: Dispatcher

  constructor(inner: Dispatcher) {
    this.#inner = inner
  }

  async publish(wakes: readonly Wake[]): Promise<void> {
    this.published.push(...wakes)
    if (!this.loses) await this.#inner.publish(wakes)
  }

  consume(...args: Parameters<Dispatcher['consume']>): Consumer {
    return this.#inner.consume(...args)
  }

  forgot(): Promise<boolean> {
    return this.#inner.forgot()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
