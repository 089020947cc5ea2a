import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../support/redis-server.ts'

const DOCS = new URL('../../docs/operations.md', import.meta.url)

/** The lines `user NAME …` of the docs, without the password: the test's user needs none. */
function documentedRules(name: string): string[] {
  const line = readFileSync(DOCS, 'utf8').match(new RegExp(`^user ${name} (.*)$`, 'm'))?.[1] ?? ''
  return line.split(' ').map((rule) => (rule.startsWith('>') ? `>${name}` : rule))
}

test('the Redis users in the docs may do their work, and nothing else', async ({ skip }) => {
  const server = await startRedis()
  if (!server) return skip('needs the program redis-server')
  onTestFinished(() => server.remove())
  const admin = new Redis(server.url)
  for (const name of ['processor', 'reader', 'wharf'])
    await admin.call('ACL', 'SETUSER', name, ...documentedRules(name))
  const as = (name: string) => new Redis(server.url, { username: name, password: name })
  const [processor, reader, wharf] = [as('processor'), as('reader'), as('wharf')]
  onTestFinished(() => {
    for (const redis of [admin, processor, reader, wharf]) redis.disconnect()
  })

  await wharf.rpush('task:pending', '{}')
  expect(await processor.blpop('task:pending', 5)).toEqual(['task:pending', '{}'])
  expect(await processor.hset('task:1', 'status', 'PROCESSING')).toBe(1)
  await wharf.set('AsyncDownloadJob:1:1:/a:1', '{}')
  expect(await reader.get('AsyncDownloadJob:1:1:/a:1')).toBe('{}')

  await expect(processor.publish('wharf:signal', 'x')).rejects.toThrow('NOPERM')
  await expect(processor.hset('bull:wharf:1', 'name', 'x')).rejects.toThrow('NOPERM')
  await expect(processor.hgetall('AsyncDownloadJob:1:1:/a:1')).rejects.toThrow('NOPERM')
  await expect(processor.flushall()).rejects.toThrow('NOPERM')
  await expect(reader.set('AsyncDownloadJob:1:1:/a:1', 'x')).rejects.toThrow('NOPERM')
  await expect(reader.get('task:1')).rejects.toThrow('NOPERM')
})
