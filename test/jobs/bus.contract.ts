import { describe, expect, onTestFinished, test } from 'vitest'
import type { Signal } from '../../src/jobs/index.ts'
import { until } from '../support/until.ts'

/** Hands out the signals of several instances that hear one another. */
export interface SignalGround {
  instance(): Promise<Signal>
  remove(): Promise<void>
}

export function signalContract(name: string, open: () => Promise<SignalGround>): void {
  async function setup(): Promise<[Signal, Signal, Signal]> {
    const ground = await open()
    const signals: Signal[] = []
    onTestFinished(async () => {
      for (const signal of signals) await signal.close()
      await ground.remove()
    })
    for (let count = 0; count < 3; count++) signals.push(await ground.instance())
    return signals as [Signal, Signal, Signal]
  }

  describe(`signal: ${name}`, () => {
    test('every instance hears every message, the sender included', async () => {
      const signals = await setup()
      const heard = signals.map(() => [] as string[])
      signals.forEach((signal, index) => {
        signal.subscribe('cancel', ({ jobId }) => heard[index]?.push(jobId))
      })
      signals.forEach((signal, index) => {
        signal.publish('cancel', { jobId: `from ${index}` })
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
      const [signal] = await setup()
      let heard = false
      signal.subscribe('events', () => {
        heard = true
      })
      signal.publish('events', {})
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
