import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { examineInstallation } from '../src/app/doctor.ts'
import { metricsAccess } from '../src/app/ground/metrics.ts'
import { openHttpClient } from '../src/app/ground/outgoing.ts'
import { OwnAddress } from '../src/app/ground/public-address.ts'
import { health } from '../src/cli/health.ts'
import { describeSettings, loadConfig, loadSettingFiles, SETTINGS } from '../src/config.ts'
import { systemClock } from '../src/kernel/index.ts'
import { startHttp } from './support/http.ts'
import { runWharf, serveWharf, temporaryFolder } from './support/wharf-process.ts'

test('without settings Wharf is embedded and listens on loopback', () => {
  const config = loadConfig({})
  expect(config).toMatchObject({
    WHARF_HOST: '127.0.0.1',
    WHARF_PORT: 8080,
    DATABASE_URL: null,
    redisUrl: null,
    isLoopback: true,
    isLocal: true,
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

const s3 = { S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
const oidc = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'wharf' }
const tls = { TASK_GRPC_TLS_CERT: 'cert.pem', TASK_GRPC_TLS_KEY: 'key.pem' }
const otlp = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
const gse = { GSE_ENDPOINT: 'https://gse.example.com', GSE_APP_CODE: 'c', GSE_APP_SECRET: 's' }

test.each<[Record<string, string>, Record<string, string>]>([
  [{ S3_ENDPOINT: 'https://s3.example.com' }, s3],
  [{ S3_REGION: 'eu-west-1' }, s3],
  [{ CDN_BASE_URL: 'https://cdn.example.com' }, s3],
  [{ S3_ACCESS_KEY_ID: 'id' }, s3],
  [{ S3_SECRET_ACCESS_KEY: 'secret' }, s3],
  [{ OIDC_ISSUER: 'https://login.example.com' }, oidc],
  [{ OIDC_CLIENT_SECRET: 'secret' }, oidc],
  [{ OIDC_ROLE_CLAIM: 'roles' }, oidc],
  [{ OIDC_SCOPES: 'openid groups' }, oidc],
  [{ REDIS_PORT: '6380' }, { REDIS_HOST: 'redis' }],
  [{ REDIS_PASSWORD: 'secret' }, { REDIS_HOST: 'redis' }],
  [{ REDIS_DB: '2' }, { REDIS_HOST: 'redis' }],
  [{ TASK_GRPC_TLS_KEY: 'key.pem' }, tls],
  [{ TASK_GRPC_TLS_CA: 'ca.pem' }, tls],
  [{ SMTP_FROM: 'a@example.com' }, { SMTP_URL: 'smtp://mail', WHARF_PUBLIC_URL: 'https://w.example.com' }],
])('%o says where something is, so it is not taken without the rest of its group', (part, rest) => {
  const name = Object.keys(part)[0] as string
  const missing = Object.keys(rest).filter((other) => other !== name && other !== 'WHARF_PUBLIC_URL')
  expect(() => loadConfig(part)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `${name} is set, so ${missing.join(', ')} must be set too`,
    }),
  )
  expect(loadConfig({ ...rest, ...part }).doubtful).toEqual([])
})

test.each<[Record<string, string>, string, Record<string, string>]>([
  ...Object.keys(SETTINGS)
    .filter((name) => name.startsWith('GSE_'))
    .map((name): [Record<string, string>, string, Record<string, string>] => [
      { [name]: 'https://gse.example.com' },
      'TRANSFER_ENGINE=gse',
      { ...gse, TRANSFER_ENGINE: 'gse' },
    ]),
  [{ SCAN_TIMEOUT_SECONDS: '5' }, 'SCAN_COMMAND', { SCAN_COMMAND: 'scan {file}' }],
  [{ SCAN_CONCURRENCY: '5' }, 'SCAN_COMMAND', { SCAN_COMMAND: 'scan {file}' }],
  [{ PROCESSOR_ENV: 'CUDA' }, 'PROCESSOR_COMMAND', { PROCESSOR_COMMAND: 'cp {input} {output}' }],
  [{ TASK_PROCESSOR_CONCURRENCY: '2' }, 'PROCESSOR_COMMAND', { PROCESSOR_COMMAND: 'cp {input} {output}' }],
  [
    { TASK_PROCESSOR_TIMEOUT_SECONDS: '2' },
    'PROCESSOR_COMMAND',
    { PROCESSOR_COMMAND: 'cp {input} {output}' },
  ],
  [{ TASK_PROCESSOR_RETRIES: '1' }, 'PROCESSOR_COMMAND', { PROCESSOR_COMMAND: 'cp {input} {output}' }],
  [{ WHARF_REDIS_PREFIX: 'w2' }, 'REDIS_URL or REDIS_HOST', { REDIS_URL: 'redis://redis' }],
  [{ TASK_QUEUE_KEY: 'q' }, 'REDIS_URL or REDIS_HOST', { REDIS_HOST: 'redis' }],
  [{ TASK_RESULT_NAME: 'a.mp4' }, 'PROCESSOR_COMMAND', { PROCESSOR_COMMAND: 'cp {input} {output}' }],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }, 'OTEL_EXPORTER_OTLP_ENDPOINT', otlp],
  [{ OTEL_TRACES_SAMPLER_ARG: '0.5' }, 'OTEL_EXPORTER_OTLP_ENDPOINT', otlp],
  [{ OTEL_BSP_SCHEDULE_DELAY: '10' }, 'OTEL_EXPORTER_OTLP_ENDPOINT', otlp],
])('%o is taken, and it is said that it has no effect without %s', (part, need, rest) => {
  const name = Object.keys(part)[0]
  expect(loadConfig(part).doubtful).toEqual([`${name} has no effect without ${need}`])
  expect(loadConfig({ ...part, ...rest }).doubtful).toEqual([])
})

test('parts of an address beside REDIS_URL are taken, and it is said that they have no effect', () => {
  const env = { REDIS_URL: 'redis://:secret@a', REDIS_HOST: 'b', REDIS_PASSWORD: 'secret' }
  const config = loadConfig(env)
  expect(config.redisUrl).toBe(env.REDIS_URL)
  expect(config.doubtful).toEqual([
    'REDIS_HOST has no effect beside REDIS_URL, which is used',
    'REDIS_PASSWORD has no effect beside REDIS_URL, which is used',
  ])
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

test('an empty WHARF_ALLOW_HOSTS is an empty list: it closes loopback', async () => {
  const reach = async (env: Record<string, string>) => {
    const client = openHttpClient(loadConfig(env), systemClock, new OwnAddress(loadConfig(env)))
    onTestFinished(() => client.close())
    return await client.request({ url: 'http://127.0.0.1:1/' }).catch((error) => error.code)
  }
  expect(await reach({ WHARF_ALLOW_HOSTS: '' })).toBe('ADDRESS_REFUSED')
  expect(await reach({ WHARF_ALLOW_HOSTS: ' ' })).toBe('ADDRESS_REFUSED')
  // Whoever is led here from outside is not on this machine.
  for (const led of [{ WHARF_TRUST_PROXY: 'loopback' }, { WHARF_PUBLIC_URL: 'https://files.example.com' }]) {
    expect(await reach(led)).toBe('ADDRESS_REFUSED')
    expect(metricsAccess(loadConfig(led), 'hash').tokenHashes).toEqual(['hash'])
  }
  expect(await reach({ WHARF_PUBLIC_URL: 'http://localhost:8080' })).not.toBe('ADDRESS_REFUSED')
  expect(await reach({})).not.toBe('ADDRESS_REFUSED')
})

const mayBeEmpty = ['REDIS_PASSWORD', 'WHARF_ALLOW_HOSTS', 'PROCESSOR_ENV']

test.each(Object.keys(SETTINGS).filter((name) => !mayBeEmpty.includes(name)))(
  'an empty %s stops the start with one line',
  (name) => {
    for (const empty of ['', '  '])
      expect(() => loadConfig({ [name]: empty })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: expect.stringMatching(new RegExp(`^${name} is empty; it takes [^\\n]+$`)),
        }),
      )
  },
)

test('an empty REDIS_PASSWORD means none', () => {
  const config = loadConfig({ REDIS_HOST: 'redis', REDIS_PASSWORD: '' })
  expect(config.redisUrl).toBe('redis://redis:6379/0')
})

test('a secret may be in a file, and what is no secret may not', () => {
  const dir = mkdtempSync(join(tmpdir(), 'wharf-secret-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'secret')
  writeFileSync(file, 'sixteen-characters-or-more\n')
  const config = loadConfig({ WHARF_SEAL_KEY_FILE: file, WHARF_HOST_FILE: file })
  expect(config.WHARF_SEAL_KEY).toBe('sixteen-characters-or-more')
  expect(config.misspelt).toEqual(['WHARF_HOST_FILE is not a setting of Wharf; did you mean WHARF_HOST?'])
  expect(() => loadConfig({ WHARF_SEAL_KEY_FILE: file, WHARF_SEAL_KEY: 'x' })).toThrow(/are both set/)
  expect(() => loadConfig({ WHARF_SEAL_KEY_FILE: join(dir, 'none') })).toThrow(/can be read/)
  const refusals: [string, RegExp][] = [
    ['', /^the file of WHARF_ADMIN_TOKEN_FILE is empty/],
    ['\n', /is empty/],
    ['x', /^the file of WHARF_ADMIN_TOKEN_FILE takes a text of at least 16 characters, not '…'$/],
    ['sixteen-characters-or-more\nand-one-more-line-of-text\n', /more than one line/],
  ]
  for (const [content, message] of refusals) {
    writeFileSync(file, content)
    expect(() => loadConfig({ WHARF_ADMIN_TOKEN_FILE: file })).toThrow(message)
  }
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
  const { misspelt } = loadConfig({
    WHARF_PROT: '80',
    DATABSE_URL: 'x',
    WHARF_ZZZ: '1',
    // Of `wharf saved apply`.
    WHARF_KEY: 'x',
    PATH: '/bin',
    POSTGRES_URL: 'x',
  })
  expect(misspelt).toEqual([
    'WHARF_PROT is not a setting of Wharf; did you mean WHARF_PORT?',
    'DATABSE_URL is not a setting of Wharf; did you mean DATABASE_URL?',
    'WHARF_ZZZ is not a setting of Wharf; see .env.example',
  ])
})

test('serve, doctor and config point it out alike', async () => {
  const env = { WHARF_PROT: '80', WHARF_DATA_DIR: temporaryFolder() }
  const words = 'WHARF_PROT is not a setting of Wharf; did you mean WHARF_PORT?'
  const config = runWharf(['config'], env)
  expect(await config.exited).toMatchObject({ code: 0 })
  expect(config.output.err).toBe(`wharf: ${words}\n`)
  expect(await examineInstallation(loadConfig(env))).toContainEqual(
    expect.objectContaining({ message: words }),
  )
  const { output } = await serveWharf(env)
  expect(output.out).toContain(words)
})

test('mails need an address for their links', () => {
  const env = { SMTP_URL: 'smtp://mail.example.com' }
  expect(() => loadConfig(env)).toThrow('SMTP_URL is set, so WHARF_PUBLIC_URL must be set too')
  expect(loadConfig({ ...env, WHARF_PUBLIC_URL: 'https://w.example.com' }).SMTP_URL).toBe(env.SMTP_URL)
})

test('.env.example lists every setting, and nothing else', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1] as string)
  expect(listed.sort()).toEqual(Object.keys(SETTINGS).sort())
})

test('settings may be in a file: the environment wins over it, and it wins over .env', () => {
  const dir = mkdtempSync(join(tmpdir(), 'wharf-config-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'wharf.conf')
  writeFileSync(
    file,
    '# a comment\nWHARF_PORT=81\nWHARF_HOST="0.0.0.0"\nWHARF_ADMIN_TOKEN=sixteen-characters-or-more\n',
  )
  const token = join(dir, 'token')
  writeFileSync(token, 'another-token-of-sixteen')
  const env: Record<string, string> = { WHARF_CONFIG: file, WHARF_PORT: '82' }
  const files = loadSettingFiles(env)
  const shown = Object.fromEntries(
    describeSettings(env, files).map(({ name, value, from }) => [name, [value, from]]),
  )
  expect(shown).toMatchObject({
    WHARF_PORT: ['82', 'environment'],
    WHARF_HOST: ['0.0.0.0', file],
    WHARF_ADMIN_TOKEN: ['(hidden)', file],
    WHARF_RATE_LIMIT: ['100/s,burst=300', 'default'],
    DATABASE_URL: [null, 'default'],
  })
  const secret: Record<string, string> = { WHARF_CONFIG: file, WHARF_ADMIN_TOKEN_FILE: token }
  const given = describeSettings(secret, loadSettingFiles(secret))
  expect(given.find(({ name }) => name === 'WHARF_ADMIN_TOKEN')).toMatchObject({
    from: `environment, in ${token}`,
  })
  expect(JSON.stringify([shown, given])).not.toMatch(/sixteen/)
  writeFileSync(file, 'WHARF_PROT=81')
  expect(() => loadSettingFiles({ WHARF_CONFIG: file })).toThrow(/sets WHARF_PROT, which is not a setting/)
  expect(() => loadSettingFiles({ WHARF_CONFIG: join(dir, 'none') })).toThrow(/^WHARF_CONFIG takes a file/)
})

test('every secret may be in a file', () => {
  const secrets = Object.entries(SETTINGS).filter(([name]) =>
    /TOKEN|SECRET|PASSWORD|SEAL_KEY|DATABASE_URL|REDIS_URL/.test(name),
  )
  expect(secrets.length).toBeGreaterThan(5)
  for (const [name, known] of secrets) expect([name, 'secret' in known && known.secret]).toEqual([name, true])
})

test.each([
  [{ WHARF_TRUST_PROXY: '10.0.0.0/33' }],
  [{ WHARF_TRUST_PROXY: 'nginx' }],
  [{ WHARF_CORS_ORIGINS: 'https://shop.example.com/' }],
  [{ WHARF_CORS_ORIGINS: 'shop.example.com' }],
])('a bad list %o stops with one line that names it', (env) => {
  expect(() => loadConfig(env)).toThrow(new RegExp(`^${Object.keys(env)[0]} takes [^\\n]+$`))
})

test('wharf health asks the server of the settings, whatever its port', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  onTestFinished(() => {
    print.mockRestore()
    vi.unstubAllEnvs()
    process.exitCode = undefined
  })
  const { backend, stop } = await startHttp()
  vi.stubEnv('WHARF_DATA_DIR', backend.env.WHARF_DATA_DIR ?? '')
  vi.stubEnv('WHARF_PORT', '1')
  await health({})
  expect([process.exitCode, print.mock.lastCall?.[0]]).toEqual([
    undefined,
    expect.stringContaining('"status":"ready"'),
  ])
  await stop()
  await health({})
  expect([process.exitCode, print.mock.lastCall?.[0]]).toEqual([
    1,
    expect.stringContaining('no Wharf answers at http://127.0.0.1:1 '),
  ])
})

test('what is shown of a default can be given back', () => {
  for (const { name, value } of describeSettings({})) {
    if (value === null || value === '(hidden)') continue
    const given = loadConfig({ [name]: value }) as unknown as Record<string, unknown>
    const usual = loadConfig({}) as unknown as Record<string, unknown>
    expect(given[name], name).toEqual(usual[name])
  }
})

test('settings that are taken and most likely not meant are told in a sentence each', () => {
  const { doubtful } = loadConfig({
    WHARF_PUBLIC_URL: 'https://example.com/wharf/',
    WHARF_UNREADY_SECONDS: '15',
    WHARF_TRUST_PROXY: '10.0.0.1,::/0',
  })
  expect(doubtful).toEqual([
    expect.stringMatching(/^WHARF_PUBLIC_URL has a path \(\/wharf\/\).* a host name of its own$/),
    expect.stringMatching(/^WHARF_UNREADY_SECONDS \(15\) is more than WHARF_DRAIN_SECONDS \(10\)/),
    expect.stringMatching(/^WHARF_TRUST_PROXY has ::\/0, which is every address/),
  ])
  const plain = {
    WHARF_PUBLIC_URL: 'https://w.example.com',
    WHARF_TRUST_PROXY: '10.0.0.0/8',
    WHARF_UNREADY_SECONDS: '10',
  }
  expect(loadConfig(plain).doubtful).toEqual([])
})
