import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../src/carriers/swarm/coordinator/agent-directory.ts'
import { isAgentMessage } from '../../src/carriers/swarm/coordinator/read-agent-message.ts'
import type { SwarmStore } from '../../src/carriers/swarm/coordinator/swarm-store.ts'
import type { Topic } from '../../src/jobs/bus/bus.ts'
import { BusEnvelope } from '../../src/jobs/bus/bus-envelope.ts'
import { RedisBus } from '../../src/jobs/bus/redis-bus.ts'
import { type Log, systemClock } from '../../src/kernel/index.ts'
import { silentLog } from '../support/backends.ts'
import { until } from '../support/until.ts'
import { fuzz, limitMs, seed } from './fuzzing.ts'
import { oddText, oddValue, toJson } from './odd-values.ts'

const TOPICS: readonly Topic[] = ['cancel', 'events', 'listening', 'who-listens', 'settings', 'keys', 'swarm']

/** One instance that listens, with all that it heard and every listener that failed. */
async function listen(url: string, options: { prefix: string; key: string }) {
  const failed: unknown[] = []
  const log = { ...silentLog, error: (...said: unknown[]) => failed.push(said) } as unknown as Log
  const bus = new RedisBus(log, { url, ...options, clock: systemClock })
  onTestFinished(() => bus.close())
  await bus.ready()
  const heard: string[] = []
  const marks = new Set<string>()
  const must = (isRight: boolean, what: string) => {
    if (!isRight) throw new TypeError(what)
  }
  for (const topic of TOPICS) bus.subscribe(topic, () => heard.push(topic))
  bus.subscribe('cancel', ({ jobId }) => must(typeof jobId === 'string', 'jobId'))
  bus.subscribe('listening', ({ forMs }) => must(Number.isFinite(forMs), 'forMs'))
  bus.subscribe('settings', ({ key }) => marks.add(key.slice(0)))
  const store = {
    agents: async () => [],
    agentsSeen: async () => undefined,
    agentsGone: async () => undefined,
  }
  const directory = new AgentDirectory({
    store: store as unknown as SwarmStore,
    ...{ bus, instance: 'here', log },
  })
  directory.listen({
    wanted: () => true,
    changed: (key) => must(typeof key === 'string', 'key'),
    received: (key, message) => {
      must(typeof key === 'string' && isAgentMessage(message), 'message')
      return true
    },
  })
  directory.onSend((key, message) => {
    must(typeof key === 'string' && typeof message.type === 'string', 'order')
    return true
  })
  await directory.start()
  return { heard, marks, failed }
}

const bulletin = fc.record(
  {
    kind: fc.oneof(fc.constantFrom('present', 'absent', 'to', 'of'), oddValue),
    key: oddValue,
    instance: oddValue,
    agent: fc.oneof(oddValue, fc.record({ key: oddValue, peer: oddText, host: oddValue, port: oddValue })),
    message: fc.oneof(
      oddValue,
      fc.record({ type: fc.constantFrom('job', 'end', 'report', 'done'), tasks: oddValue }),
    ),
  },
  { requiredKeys: ['kind'] },
)
const body = fc.oneof(
  oddValue,
  fc.record({
    from: fc.oneof(fc.constant('elsewhere'), oddValue),
    about: fc.constantFrom('agents', 'taken', 'revoked'),
    message: fc.oneof(bulletin, oddValue),
  }),
  fc.record({ jobId: oddValue, forMs: oddValue, key: oddValue }),
)
/** What somebody with Redis may do to a message that an instance wrote. */
const tampering = fc.record({
  how: fc.constantFrom('as it is', 'twice', 'cut', 'changed', 'longer', 'with another key', 'nothing of it'),
  at: fc.nat(),
  text: oddText,
})

test.runIf(inject('redisUrl'))(
  `nothing said on the bus is too odd, and nothing is heard but what an instance said, once (seed ${seed})`,
  { timeout: limitMs },
  async () => {
    const url = inject('redisUrl') ?? ''
    const options = { prefix: `t${randomBytes(4).toString('hex')}`, key: 'the key of the installation' }
    const { heard, marks, failed } = await listen(url, options)
    const redis = new Redis(url)
    onTestFinished(() => redis.disconnect())
    const say = (text: string) => redis.publish(`${options.prefix}:signal`, text)
    const instance = new BusEnvelope({ key: options.key, clock: systemClock })
    const stranger = new BusEnvelope({ key: 'another key', clock: systemClock })
    let count = 0
    await fuzz(
      fc.tuple(fc.oneof(fc.constantFrom(...TOPICS), oddText), body, tampering),
      async ([topic, message, { how, at, text }]) => {
        // As it arrives: what JSON cannot carry is gone.
        const plain: unknown = JSON.parse(toJson(message) ?? 'null')
        const genuine = instance.seal(topic as Topic, plain)
        const place = at % genuine.length
        const sent = {
          'as it is': [genuine],
          twice: [genuine, genuine],
          cut: [genuine.slice(0, place)],
          changed: [
            `${genuine.slice(0, place)}${genuine[place] === 'A' ? 'B' : 'A'}${genuine.slice(place + 1)}`,
          ],
          longer: [genuine + (text || ' ')],
          'with another key': [stranger.seal(topic as Topic, plain)],
          'nothing of it': [text],
        }[how]
        heard.length = 0
        for (const one of sent) await say(one)
        const mark = `mark ${++count}`
        await say(instance.seal('settings', { key: mark }))
        await until('the line is still read', () => marks.has(mark))
        const others = heard.length - 1
        expect(others, `${how} ${sent[0]}`).toBeLessThanOrEqual(how === 'as it is' || how === 'twice' ? 1 : 0)
        expect(failed, `${how} ${sent[0]}`).toEqual([])
      },
    )
  },
)
