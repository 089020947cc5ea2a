import { expect, test } from 'vitest'
import { MessagePace } from '../../../src/carriers/swarm/coordinator/message-pace.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { agentLine } from '../../support/agents.ts'
import { setupSwarm, untilConnected } from '../../support/swarm.ts'

test('a line may say a burst at once, and then so many per second', () => {
  let now = 0
  const pace = new MessagePace({ ...systemClock, now: () => now }, { perSecond: 10, burst: 3 })
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 100])
  now += 100
  expect(pace.take()).toBe(100)
  // Messages that were on their way already are counted, too.
  expect(pace.take()).toBe(200)
  now += 60_000
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 100])
  // A clock that is set back gives nothing away, and takes nothing.
  now -= 60_000
  expect(pace.take()).toBe(200)
})

test('[agent-message] an agent that talks too much is not read for a while, and others are', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server({ agentPace: { perSecond: 0.001, burst: 3 } })
  const lineOf = async (id: string) =>
    agentLine(server.url, { id, identity: await swarm.identityOf(server, id) })
  const loud = await lineOf('loud')
  await loud.answered
  // More than is read at once: what has arrived with the message that was one too many is still taken.
  for (let said = 0; said < 20_000; said++) loud.send({ type: 'report', tasks: [] })
  // What would end its line, were it read.
  loud.send({ type: 'nonsense' })
  const quiet = await lineOf('quiet')
  await quiet.answered
  await untilConnected(server.engine, 2)
  quiet.send({ type: 'nonsense' })
  await quiet.closed
  expect(loud.socket.readyState).toBe(loud.socket.OPEN)
})
