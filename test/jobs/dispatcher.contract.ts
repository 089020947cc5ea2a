import { describe, expect, onTestFinished, test } from 'vitest'
import type { Dispatcher } from '../../src/jobs/index.ts'
import { gate } from '../support/engines.ts'
import { until } from '../support/until.ts'

/** Hands out dispatchers of several instances that carry one another's ids. */
export interface DispatcherGround {
  instance(): Promise<Dispatcher>
  remove(): Promise<void>
}

const now = (id: string, pool = 'default') => ({ id, pool, delayMs: 0 })

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `job-${index}`)
}

/** What the engine relies on, whatever carries the ids. */
export function dispatcherContract(name: string, open: () => Promise<DispatcherGround>): void {
  async function setup(instances: number): Promise<[Dispatcher, ...Dispatcher[]]> {
    const ground = await open()
    const dispatchers: Dispatcher[] = []
    onTestFinished(async () => {
      for (const dispatcher of dispatchers) await dispatcher.close()
      await ground.remove()
    })
    for (let count = 0; count < instances; count++) dispatchers.push(await ground.instance())
    return dispatchers as [Dispatcher, ...Dispatcher[]]
  }

  describe(`dispatcher: ${name}`, () => {
    test('each id wakes exactly one of many consumers', async () => {
      const instances = await setup(3)
      const seen: string[] = []
      for (const dispatcher of instances) {
        for (let count = 0; count < 3; count++)
          dispatcher.consume('default', 2, async (id) => void seen.push(id))
      }
      const wanted = ids(300)
      await Promise.all(
        wanted.map((id, index) => instances[index % 3]?.publish([now(id)]) ?? Promise.resolve()),
      )
      await instances[0].publish([now('last')])
      await until('every id has arrived', () => seen.length >= 301)
      expect(seen.toSorted()).toEqual([...wanted, 'last'].toSorted())
    })

    test('an id that is offered to a consumer takes its next free slot', async () => {
      const [dispatcher, other] = await setup(2)
      const seen: string[] = []
      const first = gate()
      const consumer = dispatcher.consume('default', 1, async (id, offered) => {
        seen.push(offered ? `${id}, offered` : id)
        if (id === 'first') await first.passed
      })
      await other?.publish([now('first')])
      await until('the first has arrived', () => seen.length === 1)
      await other?.publish([now('next')])
      consumer.offer('mine')
      consumer.offer('mine')
      expect(seen).toEqual(['first'])
      first.open()
      await until('all have arrived', () => seen.length === 3)
      expect(seen).toEqual(['first', 'mine, offered', 'next'])
      await consumer.stop()
      consumer.offer('late')
      expect(seen).toHaveLength(3)
    })

    test('ids published before anybody consumes are not lost', async () => {
      const [dispatcher] = await setup(1)
      await dispatcher.publish([now('early')])
      const seen: string[] = []
      dispatcher.consume('default', 1, async (id) => void seen.push(id))
      await until('the id has arrived', () => seen.length > 0)
      expect(seen).toEqual(['early'])
    })

    test('ids arrive in the order of publishing, over several calls and within one', async () => {
      const [dispatcher] = await setup(1)
      const seen: string[] = []
      const wanted = ids(60)
      for (const id of wanted.slice(0, 20)) await dispatcher.publish([now(id)])
      await dispatcher.publish(wanted.slice(20).map((id) => now(id)))
      dispatcher.consume('default', 1, async (id) => void seen.push(id))
      await until('every id has arrived', () => seen.length === 60)
      expect(seen).toEqual(wanted)
    })

    test('an id with a delay comes after ids without, and the shorter delay first', async () => {
      const [dispatcher] = await setup(1)
      const seen: string[] = []
      await dispatcher.publish([
        { id: 'late', pool: 'default', delayMs: 1_000 },
        { id: 'soon', pool: 'default', delayMs: 100 },
        now('first'),
      ])
      dispatcher.consume('default', 1, async (id) => void seen.push(id))
      await until('every id has arrived', () => seen.length === 3)
      expect(seen).toEqual(['first', 'soon', 'late'])
    })

    test('a delayed id reaches a consumer that was already waiting', async () => {
      const [first, second] = await setup(2)
      const seen: string[] = []
      for (const dispatcher of [first, second as Dispatcher])
        dispatcher.consume('default', 1, async (id) => void seen.push(id))
      await first.publish([now('warm-up')])
      await until('consumers are up', () => seen.length === 1)
      await first.publish([{ id: 'delayed', pool: 'default', delayMs: 50 }])
      await until('the delayed id has arrived', () => seen.length === 2)
      expect(seen).toEqual(['warm-up', 'delayed'])
    })

    test('no more ids are under way than there are slots, and each freed slot takes the next', async () => {
      const [dispatcher] = await setup(1)
      const doors = new Map<string, () => void>()
      let most = 0
      dispatcher.consume('default', 3, async (id) => {
        const { open, passed } = gate()
        doors.set(id, open)
        most = Math.max(most, doors.size)
        await passed
        doors.delete(id)
      })
      await dispatcher.publish(ids(12).map((id) => now(id)))
      for (let left = 12; left > 0; left--) {
        await until('all slots are taken', () => doors.size === Math.min(3, left))
        const [oldest] = doors.values()
        const before = [...doors.keys()]
        oldest?.()
        await until('the slot is free', () => !doors.has(before[0] as string))
      }
      expect(most).toBe(3)
    })

    test('of light ids that are published together, those without a slot here go elsewhere, in their order', async () => {
      const [first, second] = await setup(2)
      const stuck = gate()
      onTestFinished(() => stuck.open())
      const here: string[] = []
      const there: string[] = []
      first.consume('default', 3, (id) => {
        here.push(id)
        return stuck.passed
      })
      await first.publish(ids(40).map((id) => ({ ...now(id), light: true })))
      await until('its slots are taken', () => here.length === 3)
      ;(second as Dispatcher).consume('default', 1, async (id) => void there.push(id))
      await until('the others have arrived', () => there.length === 37)
      expect([...here, ...there]).toEqual(ids(40))
    })

    test('pools do not share slots', async () => {
      const [dispatcher] = await setup(1)
      const stuck = gate()
      const seen: string[] = []
      onTestFinished(() => stuck.open())
      dispatcher.consume('slow', 1, () => stuck.passed)
      dispatcher.consume('quick', 1, async (id) => void seen.push(id))
      await dispatcher.publish([now('a', 'slow'), now('b', 'slow'), now('c', 'quick')])
      await until('the other pool works', () => seen.length === 1)
      expect(seen).toEqual(['c'])
    })

    test('a consumer that was stopped takes no further ids, and others get them', async () => {
      const [first, second] = await setup(2)
      const early: string[] = []
      const late: string[] = []
      const consumer = first.consume('default', 1, async (id) => void early.push(id))
      await first.publish([now('a')])
      await until('the first id has arrived', () => early.length === 1)
      await consumer.stop()
      await consumer.stop()
      await first.publish([now('b'), now('c')])
      ;(second as Dispatcher).consume('default', 1, async (id) => void late.push(id))
      await until('the others have arrived', () => late.length === 2)
      expect({ early, late }).toEqual({ early: ['a'], late: ['b', 'c'] })
    })

    test('stopping does not wait for what is under way, even if every slot is taken', async () => {
      const [dispatcher] = await setup(1)
      const stuck = gate()
      onTestFinished(() => stuck.open())
      const seen: string[] = []
      const consumer = dispatcher.consume('default', 1, (id) => {
        seen.push(id)
        return stuck.passed
      })
      await dispatcher.publish([now('a'), now('b')])
      await until('the slot is taken', () => seen.length === 1)
      await consumer.stop()
      stuck.open()
      await dispatcher.publish([now('c')])
      const late: string[] = []
      dispatcher.consume('default', 1, async (id) => void late.push(id))
      await until('another consumer has the rest', () => late.length === 2)
      expect({ seen, late }).toEqual({ seen: ['a'], late: ['b', 'c'] })
    })

    test('an id that is published again after it was handled is delivered again', async () => {
      const [dispatcher] = await setup(1)
      const seen: string[] = []
      dispatcher.consume('default', 1, async (id) => void seen.push(id))
      for (let count = 1; count <= 5; count++) {
        await dispatcher.publish([now('same')])
        await until('the id has arrived', () => seen.length === count)
      }
      expect(seen).toEqual(Array(5).fill('same'))
    })

    test('an id that is published again while it is under way is delivered a second time', async () => {
      const [dispatcher] = await setup(1)
      const { open, passed } = gate()
      let seen = 0
      dispatcher.consume('default', 2, async () => {
        seen++
        await passed
      })
      await dispatcher.publish([now('same')])
      await until('the id has arrived', () => seen === 1)
      await dispatcher.publish([now('same')])
      await until('the id has arrived again', () => seen === 2)
      open()
    })

    test('nothing is handed out after closing', async () => {
      const [first, second] = await setup(2)
      const { open, passed } = gate()
      const seen: string[] = []
      first.consume('default', 1, async (id) => {
        seen.push(id)
        await passed
      })
      await first.publish([now('a'), now('b')])
      await until('the slot is taken', () => seen.length === 1)
      await first.close()
      open()
      await passed
      const late: string[] = []
      ;(second as Dispatcher).consume('default', 1, async (id) => void late.push(id))
      await (second as Dispatcher).publish([now('c')])
      await until('the other instance goes on', () => late.includes('c'))
      expect(seen).toEqual(['a'])
    })
  })
}
