import { type Job as BullJob, RedisConnection, Worker } from 'bullmq'
import { bestEffort } from '../../kernel/index.ts'
import { OLDEST_REDIS } from '../../redis/index.ts'
import { reconnectSoon } from '../../redis/redis-connection.ts'

/** One id, or several that are taken together. */
export type Bundle = string | string[]

// BullMQ is not to look for the version: it would print a line per connection if Redis evicts. This is what it takes for granted
// instead, and from 6 on it waits in fractions of a second.
RedisConnection.minimumVersion = OLDEST_REDIS

/** How long an idle consumer blocks before it asks again: the only commands that an idle instance sends to BullMQ. */
const IDLE_BLOCK_SECONDS = 120
/** So that no proxy or firewall drops a connection that is silent for that long. */
const KEEP_ALIVE_MS = 30_000

/**
 * BullMQ's worker without its loop: ids are fetched by hand, one more with each completion while a slot is free. It uses
 * protected members of BullMQ, which may change with any version: package.json names one version exactly, and
 * wake-worker.test.ts has what is relied on.
 */
export class WakeWorker extends Worker<Bundle> {
  constructor(name: string, { url, prefix, answerMs }: { url: string; prefix: string; answerMs: number }) {
    super(name, null, {
      connection: {
        url,
        maxRetriesPerRequest: null,
        retryStrategy: reconnectSoon,
        keepAlive: KEEP_ALIVE_MS,
        skipVersionCheck: true,
      },
      prefix,
      autorun: false,
      drainDelay: IDLE_BLOCK_SECONDS,
      skipStalledCheck: true,
      skipLockRenewal: true,
      removeOnComplete: { count: 0 },
    })
    // Set afterwards, because BullMQ takes one set of options for two connections: the other one waits for ids, and is
    // rightly silent for as long as there are none (BullMQ watches over it by itself).
    this.backend.client.then(
      ({ options }) => Object.assign(options, { socketTimeout: answerMs }),
      () => undefined,
    )
  }

  /** Ends the wait for an id, but not a fetch whose answer is on its way: that id would be lost with it. */
  interrupt(): void {
    this.closing = Promise.resolve()
    bestEffort(this.backend.disconnectBlocking(false))
  }

  async end(): Promise<void> {
    this.closing = undefined
    await this.close(true)
  }

  async complete(job: BullJob<Bundle>, fetchNext: boolean): Promise<BullJob<Bundle> | undefined> {
    const token = job.token ?? ''
    const next = await job.moveToCompleted(null, token, fetchNext)
    if (!fetchNext) return undefined
    const [data, id] = (next ?? []) as Parameters<typeof this.nextJobFromJobData>
    return this.nextJobFromJobData(data, id, token)
  }
}
