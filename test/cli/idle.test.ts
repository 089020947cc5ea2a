import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const PRELOAD = new URL('../support/loaded-packages.ts', import.meta.url).href

/** What only some servers use, or only after somebody asked for it. */
const ON_DEMAND = ['pg', 'mysql2', 'bullmq', 'ioredis', 'undici', '@tus/server', 'cli-progress']

test('an embedded server with nothing to do has loaded no library that it does not need', async () => {
  const file = join(temporaryFolder(), 'packages.json')
  const { child, exited } = await serveWharf({
    NODE_OPTIONS: `--import ${PRELOAD}`,
    LOADED_PACKAGES: file,
  })
  child.kill('SIGTERM')
  await exited
  const loaded: string[] = JSON.parse(readFileSync(file, 'utf8'))
  expect(loaded).toContain('fastify')
  expect(loaded.filter((name) => ON_DEMAND.includes(name))).toEqual([])
})
