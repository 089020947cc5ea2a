import { expect, test } from 'vitest'
import { BusEnvelope, FRESH_MS } from '../../../src/jobs/bus/bus-envelope.ts'

function setup() {
  const time = { now: 1_000_000 }
  const clock = { now: () => time.now, sleep: async () => undefined }
  const instance = (key = 'the key of the installation') => new BusEnvelope({ key, clock })
  return { time, instance }
}

test('instances of one installation understand one another', () => {
  const { instance } = setup()
  const [sender, receiver] = [instance(), instance()]
  for (const jobId of ['1', '二'])
    expect(receiver.open(sender.seal('cancel', { jobId }))).toEqual({ topic: 'cancel', message: { jobId } })
})

test('a message of somebody without the key is refused, and so is one that was changed', () => {
  const { instance } = setup()
  const [sender, receiver] = [instance(), instance()]
  expect(receiver.open(instance('a guess').seal('cancel', { jobId: '1' }))).toBeUndefined()
  const text = sender.seal('cancel', { jobId: '1' })
  expect(receiver.open(text.replace('"1"', '"2"'))).toBeUndefined()
  for (const garbage of ['', '[]', text.slice(1), `é${text.slice(1)}`, JSON.stringify(['cancel', {}])])
    expect(receiver.open(garbage)).toBeUndefined()
  expect(receiver.open(text)).toBeDefined()
})

test('a message is taken once, and none that is older than one that was taken', () => {
  const { instance } = setup()
  const [sender, receiver] = [instance(), instance()]
  const first = sender.seal('cancel', { jobId: '1' })
  const second = sender.seal('cancel', { jobId: '2' })
  expect(receiver.open(second)).toBeDefined()
  expect(receiver.open(second)).toBeUndefined()
  expect(receiver.open(first)).toBeUndefined()
})

test('an instance that starts anew takes nothing that was said before', () => {
  const { time, instance } = setup()
  const sender = instance()
  const recorded = sender.seal('cancel', { jobId: '1' })
  time.now += 1
  const restarted = instance()
  expect(restarted.open(recorded)).toBeUndefined()
  expect(restarted.open(sender.seal('cancel', { jobId: '2' }))).toBeDefined()
})

test('a message of a sender that was forgotten is too old to be taken again', () => {
  const { time, instance } = setup()
  const [sender, receiver] = [instance(), instance()]
  const recorded = sender.seal('cancel', { jobId: '1' })
  expect(receiver.open(recorded)).toBeDefined()
  time.now += FRESH_MS + 1
  expect(receiver.open(instance().seal('cancel', { jobId: '2' }))).toBeDefined()
  expect(receiver.open(recorded)).toBeUndefined()
})
