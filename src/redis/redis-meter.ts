import type { Redis } from 'ioredis'
import { metrics, redisConnections } from '../kernel/index.ts'

/** These wait for something to come; how long that takes says nothing of Redis. */
const WAITING = /^(b[lrz]|blmove|blmpop|bzmpop|xread|subscribe|psubscribe|wait)/i

/** Counts how long Redis takes on this connection, and whether it is there, until the connection is ended for good. */
export function measureRedis(redis: Redis): void {
  const forget = redisConnections.watch(() => redis.status === 'ready')
  redis.once('end', forget)
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, ...rest) => {
    if (!WAITING.test(command.name)) {
      const answered = metrics.redisCommands.startTimer()
      command.promise.then(
        () => answered(),
        () => metrics.redisErrors.inc(),
      )
    }
    return send(command, ...rest)
  }
}
