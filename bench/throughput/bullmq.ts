import { Queue, Worker } from 'bullmq'
import { CONCURRENCY, type Contestant } from './contestant.ts'

export const bullmq: Contestant = {
  name: 'BullMQ',
  durable:
    'nothing: this Redis keeps all in memory (with its usual settings it loses up to a minute or more)',
  async open({ redisUrl }, done) {
    const queue = new Queue('noop', {
      connection: { url: redisUrl },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    })
    const worker = new Worker('noop', async () => null, {
      connection: { url: redisUrl, maxRetriesPerRequest: null },
      concurrency: CONCURRENCY,
      autorun: false,
    })
    worker.on('completed', done)
    return {
      async enqueue() {
        await queue.add('noop', null)
      },
      async work() {
        void worker.run()
      },
      async close() {
        await worker.close()
        await queue.close()
      },
    }
  },
}
