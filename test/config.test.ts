import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadConfig, SETTINGS } from '../src/config.ts'

test('without settings Wharf is embedded and listens on loopback', () => {
  const config = loadConfig({})
  expect(config).toMatchObject({
    WHARF_HOST: '127.0.0.1',
    WHARF_PORT: 8080,
    DATABASE_URL: null,
    redisUrl: null,
    isLoopback: true,
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test.each([
  [{ WHARF_PORT: 'http' }, /^WHARF_PORT takes a whole number from 0 to 65535, not 'http'$/],
  [{ WHARF_PORT: '65536' }, /^WHARF_PORT takes/],
  [{ WHARF_PORT: '-1' }, /^WHARF_PORT takes/],
  [{ WHARF_RATE_LIMIT: 'fast' }, /^WHARF_RATE_LIMIT takes a rate like '100\/s'/],
  [{ WHARF_RATE_LIMIT: '0/s' }, /^WHARF_RATE_LIMIT takes/],
  [
    { DATABASE_URL: 'mysql://x' },
    /^DATABASE_URL takes an address that starts with postgres:\/\/ or postgresql:\/\//,
  ],
  [{ REDIS_URL: 'localhost' }, /^REDIS_URL takes/],
  [{ TRANSFER_ENGINE: 'pigeon' }, /^TRANSFER_ENGINE takes one of swarm, gse, not 'pigeon'$/],
  [{ TRANSFER_ENGINE: 'gse' }, /GSE_ENDPOINT, GSE_APP_CODE, GSE_APP_SECRET must be set too$/],
  [{ S3_BUCKET: 'files' }, /^S3_BUCKET is set, so S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY must be set too$/],
  [{ TASK_GRPC_HOST: '0.0.0.0' }, /^TASK_GRPC_TOKEN must be set/],
  [{ WHARF_ADMIN_TOKEN: 'short' }, /^WHARF_ADMIN_TOKEN takes a text of at least 16 characters, not '…'$/],
])('a bad value %o stops with one line that names it', (env, message) => {
  expect(() => loadConfig(env)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) }),
  )
})

test('Redis may be given in parts', () => {
  const config = loadConfig({
    REDIS_HOST: 'redis',
    REDIS_PORT: '6380',
    REDIS_PASSWORD: 'a:b/c@d',
    REDIS_DB: '2',
  })
  expect(config.redisUrl).toBe('redis://:a%3Ab%2Fc%40d@redis:6380/2')
})

test('files move to the shared dir, and the rest stays in the data dir', () => {
  const alone = loadConfig({ WHARF_DATA_DIR: '/data' })
  expect(alone).toMatchObject({
    filesDir: '/data',
    LOCAL_STORAGE_PATH: '/data/videos',
    WHARF_SHARED_DIR: null,
  })
  const shared = loadConfig({
    WHARF_DATA_DIR: '/data',
    WHARF_SHARED_DIR: '/shared/',
    TEMP_STORAGE_PATH: '/temp',
  })
  expect(shared).toMatchObject({
    WHARF_DATA_DIR: '/data',
    WHARF_SHARED_DIR: '/shared',
    filesDir: '/shared',
    LOCAL_STORAGE_PATH: '/shared/videos',
    TEMP_STORAGE_PATH: '/temp',
  })
})

test('a name that looks like a setting but is none is pointed out', () => {
  expect(loadConfig({ WHARF_PROT: '80' }).unknown).toEqual(['WHARF_PROT'])
})

test('.env.example lists every setting, and nothing else', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1] as string)
  expect(listed.sort()).toEqual(Object.keys(SETTINGS).sort())
})
