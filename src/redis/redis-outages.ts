import type { Redis } from 'ioredis'
import type { Log } from '../kernel/index.ts'

/** Connections of this process that are away, by the address of their Redis. */
const away = new Map<string, Set<Redis>>()

/** One line when Redis goes away and one when it is back, however long that takes and however many connections it had. */
export function reportOutages(redis: Redis, log: Log): void {
  const { host, port } = redis.options
  const address = `${host}:${port}`
  const isBack = (): boolean => {
    const others = away.get(address)
    if (!others?.delete(redis) || others.size > 0) return false
    return away.delete(address)
  }
  redis.on('error', (error: NodeJS.ErrnoException) => {
    const others = away.get(address) ?? new Set()
    if (others.size > 0) log.debug({ err: error }, 'redis connection error')
    else log.warn(`Redis at ${address} cannot be reached (${error.code ?? error.message}); will keep trying`)
    away.set(address, others.add(redis))
  })
  redis.on('ready', () => {
    if (isBack()) log.info(`Redis at ${address} answers again`)
  })
  // Closed for good.
  redis.on('end', isBack)
}
