export { inspectRedis } from './inspect-redis.ts'
export { OLDEST_REDIS, openRedis } from './open-redis.ts'
export { measureRedis } from './redis-meter.ts'
export { reportOutages } from './redis-outages.ts'
