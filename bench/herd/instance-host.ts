// A child process that holds a few instances. Each is an object of its own with connections of its own; a process for
// each of fifty would only measure how the machine swaps.
import { type SubjectName, subjects } from './subjects/index.ts'
import type { Ground, Instance } from './subjects/subject.ts'

export type Order =
  | { what: 'open'; subject: SubjectName; grounds: Ground[] }
  | { what: 'enqueue'; instance: number }
  | { what: 'report' }
  | { what: 'close' }

export interface Seen {
  /** Time by task id, in milliseconds of the machine's monotonic clock, which all processes share. */
  committed: [string, number][]
  started: [string, number][]
}

const instances: Instance[] = []
const seen: Seen = { committed: [], started: [] }

const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6

async function obey(order: Order): Promise<unknown> {
  switch (order.what) {
    case 'open':
      for (const ground of order.grounds) {
        const started = (id: string) => seen.started.push([id, monotonicMs()])
        instances.push(await subjects[order.subject].open(ground, started))
      }
      return undefined
    case 'enqueue':
      return enqueue(instances[order.instance] as Instance)
    case 'report':
      return seen
    case 'close':
      await Promise.all(instances.splice(0).map((instance) => instance.close()))
      return undefined
  }
}

async function enqueue(instance: Instance): Promise<void> {
  let at = Number.NaN
  const id = await instance.enqueue(() => (at = monotonicMs()))
  seen.committed.push([id, at])
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order).then(
    (answer) => process.send?.({ id, answer }),
    (error: Error) => process.send?.({ id, error: error.message }),
  )
})
process.once('disconnect', () => process.exit())
