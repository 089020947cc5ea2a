import type { Redis } from 'ioredis'
import type { Log } from '../kernel/index.ts'

/** One line when Redis goes away and one when it is back, however long that takes. */
export function reportOutages(redis: Redis, log: Log): void {
  const { host, port } = redis.options
  let away = false
  redis.on('error', (error: NodeJS.ErrnoException) => {
    if (away) return log.debug({ err: error }, 'redis connection error')
    away = true
    log.warn(`Redis at ${host}:${port} cannot be reached (${error.code ?? error.message}); will keep trying`)
  })
  redis.on('ready', () => {
    if (away) log.info(`Redis at ${host}:${port} answers again`)
    away = false
  })
}
