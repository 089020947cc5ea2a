import { describe, expect, onTestFinished, test } from 'vitest'
import type { Bus } from '../../src/jobs/index.ts'
import { until } from '../support/until.ts'

/** Hands out the buses of several instances that hear one another. */
export interface SignalGround {
  instance(): Promise<Bus>
  remove(): Promise<void>
}

export function signalContract(name: string, open: () => Promise<SignalGround>): void {
  async function setup(): Promise<[Bus, Bus, Bus]> {
    const ground = await open()
    const buses: Bus[] = []
    onTestFinished(async () => {
      for (const bus of buses) await bus.close()
      await ground.remove()
    })
    for (let count = 0; count < 3; count++) buses.push(await ground.instance())
    return buses as [Bus, Bus, Bus]
  }

  describe(`bus: ${name}`, () => {
    test('every instance hears every message, the sender included', async () => {
      const buses = await setup()
      const heard = buses.map(() => [] as string[])
      buses.forEach((bus, index) => {
        bus.subscribe('cancel', ({ jobId }) => heard[index]?.push(jobId))
      })
      buses.forEach((bus, index) => {
        bus.publish('cancel', { jobId: `from ${index}` })
      })
      await until('everybody has heard everything', () => heard.every(({ length }) => length >= 3))
      for (const messages of heard) expect(messages.toSorted()).toEqual(['from 0', 'from 1', 'from 2'])
    })

    test('messages of one sender arrive in order and keep their topic', async () => {
      const [sender, receiver] = await setup()
      const heard: unknown[] = []
      receiver.subscribe('cancel', (message) => heard.push(['cancel', message]))
      receiver.subscribe('settings', (message) => heard.push(['settings', message]))
      sender.publish('cancel', { jobId: '1' })
      sender.publish('settings', { key: '二 "2"' })
      sender.publish('listening', { forMs: 1 })
      sender.publish('cancel', { jobId: '3' })
      await until('everything has arrived', () => heard.length >= 3)
      expect(heard).toEqual([
        ['cancel', { jobId: '1' }],
        ['settings', { key: '二 "2"' }],
        ['cancel', { jobId: '3' }],
      ])
    })

    test('publishing returns before any listener is called', async () => {
      const [bus] = await setup()
      let heard = false
      bus.subscribe('events', () => {
        heard = true
      })
      bus.publish('events', {})
      expect(heard).toBe(false)
      await until('it has arrived', () => heard)
    })

    test('a listener that has left hears nothing more, others do', async () => {
      const [sender, receiver] = await setup()
      const left: string[] = []
      const stayed: string[] = []
      const leave = receiver.subscribe('cancel', ({ jobId }) => left.push(jobId))
      receiver.subscribe('cancel', ({ jobId }) => stayed.push(jobId))
      sender.publish('cancel', { jobId: 'a' })
      await until('the first has arrived', () => stayed.length === 1)
      leave()
      sender.publish('cancel', { jobId: 'b' })
      await until('the second has arrived', () => stayed.length === 2)
      expect({ left, stayed }).toEqual({ left: ['a'], stayed: ['a', 'b'] })
    })

    test('a listener that throws keeps nobody else from hearing, now or later', async () => {
      const [sender, receiver] = await setup()
      const heard: string[] = []
      receiver.subscribe('cancel', () => {
        throw new Error('a careless listener')
      })
      receiver.subscribe('cancel', ({ jobId }) => heard.push(jobId))
      sender.publish('cancel', { jobId: 'a' })
      sender.publish('cancel', { jobId: 'b' })
      await until('both have arrived', () => heard.length === 2)
      expect(heard).toEqual(['a', 'b'])
    })
  })
}
