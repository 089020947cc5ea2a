import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { AppError, closest, ERRORS } from './kernel/index.ts'

/**
 * Every setting, its default and what it takes: the only reader of the environment. `.env.example` lists the same
 * names, and a test compares the two.
 */
interface Setting<T> {
  readonly fallback: T
  /** Completes the sentence "NAME takes …". */
  readonly takes: string
  parse(text: string): T | undefined
  /** The value is shown nowhere, and `NAME_FILE` may name a file that holds it. */
  readonly secret?: true
  /** What an empty value means. Without it, an empty value stops the start. */
  readonly empty?: T
}

function setting<T>(fallback: T, takes: string, parse: (text: string) => T | undefined): Setting<T> {
  return { fallback, takes, parse }
}

const text = (fallback: string) => setting(fallback, 'a text', (value) => value)
const hidden = <T>(known: Setting<T>): Setting<T> => ({ ...known, secret: true })
const secret = () =>
  hidden(
    setting<string | null>(null, 'a text of at least 16 characters', (value) =>
      value.length >= 16 ? value : undefined,
    ),
  )
/** An empty list is a list: it does not fall back to the default. */
const list = (takes: string): Setting<string | null> => ({ ...optional(takes), empty: '' })
const optional = (takes: string) => setting<string | null>(null, takes, (value) => value)
const oneOf = <T extends string>(fallback: T, ...values: T[]) =>
  setting<T>(fallback, `one of ${values.join(', ')}`, (value) => values.find((known) => known === value))

function whole(fallback: number, min: number, max: number): Setting<number> {
  return setting(fallback, `a whole number from ${min} to ${max}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : undefined
  })
}

function url(...protocols: string[]): Setting<string | null> {
  return setting<string | null>(
    null,
    `an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
  )
}

/** Names that are separated by commas; each must be good. */
const names = (takes: string, isGood: (name: string) => boolean) =>
  setting<readonly string[]>([], `${takes}, separated by commas`, (value) => {
    const all = value.split(',').map((name) => name.trim())
    return all.every(isGood) ? all : undefined
  })

function isAddressRange(name: string): boolean {
  const [address = '', prefix, ...more] = name.split('/')
  const bits = isIP(address) === 6 ? 128 : 32
  const short = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  return isIP(address) !== 0 && short && more.length === 0
}

const rateLimit = setting(
  { perSecond: 100, burst: 300 },
  "a rate like '100/s' or '100/s,burst=300'",
  (value) => {
    const match = /^(\d{1,6})\/s(?:,\s*burst=(\d{1,7}))?$/.exec(value)
    if (!match) return undefined
    const perSecond = Number(match[1])
    const burst = match[2] === undefined ? perSecond * 3 : Number(match[2])
    return perSecond > 0 && burst >= perSecond ? { perSecond, burst } : undefined
  },
)

export const SETTINGS = {
  WHARF_HOST: text('127.0.0.1'),
  WHARF_PORT: whole(8080, 0, 65_535),
  WHARF_PUBLIC_URL: url('http:', 'https:'),
  WHARF_TRUST_PROXY: names(
    "addresses and CIDRs of proxies, 'loopback' or 'private'",
    (name) => name === 'loopback' || name === 'private' || isAddressRange(name),
  ),
  WHARF_CORS_ORIGINS: names(
    "origins like https://shop.example.com, or '*'",
    (name) => name === '*' || (/^https?:/.test(name) && URL.parse(name)?.origin === name),
  ),
  WHARF_CONFIG: optional('a file'),
  WHARF_DATA_DIR: text('./data'),
  WHARF_SHARED_DIR: optional('a folder'),
  WHARF_ADMIN_TOKEN: secret(),
  WHARF_SEAL_KEY: secret(),
  WHARF_SESSION_HOURS: whole(12, 1, 720),
  OIDC_ISSUER: setting<string | null>(
    null,
    'an address that starts with https:// (http:// on loopback only)',
    (value) => {
      const issuer = URL.parse(value)
      const isSafe =
        issuer?.protocol === 'https:' || (issuer?.protocol === 'http:' && isLoopbackHost(issuer.hostname))
      return isSafe ? value : undefined
    },
  ),
  OIDC_CLIENT_ID: optional('a text'),
  OIDC_CLIENT_SECRET: hidden(optional('a text')),
  OIDC_ROLE_CLAIM: text('wharf_roles'),
  OIDC_SCOPES: setting(
    'openid profile email',
    "scopes with 'openid' among them, separated by blanks",
    (value) => (value.split(/\s+/).includes('openid') ? value : undefined),
  ),
  WHARF_LOG_LEVEL: oneOf('info', 'silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
  WHARF_RATE_LIMIT: rateLimit,
  WHARF_BODY_TIMEOUT_SECONDS: whole(60, 1, 3_600),
  WHARF_UPLOAD_IDLE_SECONDS: whole(30, 1, 3_600),
  WHARF_ALLOW_HOSTS: list('a list of hosts and CIDRs, separated by commas'),
  SMTP_URL: hidden(url('smtp:', 'smtps:')),
  SMTP_FROM: setting<string | null>(null, 'an e-mail address, with a name before it or not', (value) =>
    /^[^<>\r\n]*<?[^\s@<>]+@[^\s@<>]+>?$/.test(value) ? value : undefined,
  ),
  SCAN_COMMAND: setting<string | null>(null, 'a command with {file}', (value) =>
    value.includes('{file}') ? value : undefined,
  ),
  SCAN_TIMEOUT_SECONDS: whole(300, 1, 3_600),
  SCAN_CONCURRENCY: whole(4, 1, 1_000),
  WHARF_METRICS_TOKEN: secret(),
  WHARF_METRICS_PORT: setting<number | null>(null, 'a port from 0 to 65535', (value) =>
    /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined,
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http:', 'https:'),
  OTEL_EXPORTER_OTLP_HEADERS: hidden(optional('pairs like name=value, separated by commas')),
  OTEL_SERVICE_NAME: text('wharf'),
  OTEL_RESOURCE_ATTRIBUTES: optional('pairs like name=value, separated by commas'),
  OTEL_TRACES_SAMPLER_ARG: setting(1, 'a number from 0 to 1', (value) =>
    /^(0?\.\d+|0|1(\.0+)?|0\.\d*)$/.test(value) ? Number(value) : undefined,
  ),
  OTEL_BSP_SCHEDULE_DELAY: whole(5_000, 1, 600_000),
  WHARF_SAMPLES: oneOf('on', 'on', 'off'),
  WHARF_DOCS: oneOf('on', 'on', 'off'),
  WHARF_LEASE_SECONDS: whole(30, 1, 3_600),
  WHARF_DRAIN_SECONDS: whole(10, 0, 3_600),
  WHARF_UNREADY_SECONDS: whole(0, 0, 3_600),
  WHARF_EVENT_TTL_HOURS: whole(168, 1, 87_600),
  WHARF_SLOTS: whole(16, 1, 1_000),
  WHARF_RUN_CONNECTIONS: whole(8, 1, 64),
  WHARF_REDIS_PREFIX: setting('wharf', 'letters, digits and dashes', (value) =>
    /^[\w-]{1,40}$/.test(value) ? value : undefined,
  ),
  DATABASE_URL: hidden(url('postgres:', 'postgresql:')),
  REDIS_URL: hidden(url('redis:', 'rediss:')),
  REDIS_HOST: optional('a host name'),
  REDIS_PORT: whole(6379, 1, 65_535),
  REDIS_PASSWORD: { ...hidden(optional('a text')), empty: null },
  REDIS_DB: whole(0, 0, 65_535),
  S3_ENDPOINT: url('http:', 'https:'),
  S3_REGION: text('us-east-1'),
  S3_BUCKET: optional('the name of a bucket'),
  S3_ACCESS_KEY_ID: optional('a text'),
  S3_SECRET_ACCESS_KEY: hidden(optional('a text')),
  CDN_BASE_URL: url('http:', 'https:'),
  WHARF_ENCRYPT_FILES: oneOf('off', 'off', 'on'),
  COLLECT_WINDOW_SECONDS: whole(15, 1, 3_600),
  JOB_TIMEOUT_SECONDS: whole(600, 1, 86_400),
  TRANSFER_TTL_SECONDS: whole(1800, 1, 2_592_000),
  WHARF_REPOSITORY_MAX_BYTES: whole(10_737_418_240, 1, 1_099_511_627_776),
  TRANSFER_ENGINE: oneOf('swarm', 'swarm', 'gse'),
  GSE_ENDPOINT: url('http:', 'https:'),
  GSE_APP_CODE: optional('a text'),
  GSE_APP_SECRET: hidden(optional('a text')),
  GSE_USERNAME: optional('a text'),
  GSE_TENANT_ID: optional('a text'),
  GSE_AGENT_ID: optional('a text'),
  GSE_CONTAINER_ID: optional('a text'),
  GSE_AGENT_USER: optional('a text'),
  TASK_GRPC_HOST: text('127.0.0.1'),
  TASK_GRPC_PORT: whole(50_050, 0, 65_535),
  TASK_GRPC_TOKEN: secret(),
  LOCAL_STORAGE_PATH: text('./data/videos'),
  TEMP_STORAGE_PATH: text('./data/temp'),
  TASK_FILES_MODE: setting(0o770, 'the mode of a folder in octal, like 0770 or 0750', (value) =>
    /^0?7[0-7][0-7]$/.test(value) ? Number.parseInt(value, 8) : undefined,
  ),
  TASK_TTL_DAYS: whole(7, 1, 3_650),
  TASK_QUEUE_KEY: text('task:pending'),
  TASK_GRPC_TLS_CERT: optional('a file'),
  TASK_GRPC_TLS_KEY: optional('a file'),
  TASK_GRPC_TLS_CA: optional('a file'),
  TASK_STALLED_SECONDS: whole(3_600, 10, 2_592_000),
  TASK_MAX_RETURNS: whole(3, 0, 1_000),
  TASK_TEMP_TTL_HOURS: whole(24, 1, 87_600),
  TASK_UPLOAD_MAX_BYTES: whole(10_737_418_240, 1, 1_099_511_627_776),
  TASK_PROCESSOR_CONCURRENCY: whole(1, 1, 1_000),
  TASK_PROCESSOR_TIMEOUT_SECONDS: whole(3_600, 1, 2_592_000),
  TASK_PROCESSOR_RETRIES: whole(2, 0, 100),
  TASK_RESULT_NAME: setting('result.mp4', 'a file name', (value) =>
    /^[\w][\w.-]{0,99}$/.test(value) && !value.startsWith('original') ? value : undefined,
  ),
  PROCESSOR_COMMAND: setting<string | null>(null, 'a command with {input} and {output}', (value) =>
    value.includes('{input}') && value.includes('{output}') ? value : undefined,
  ),
  PROCESSOR_ENV: list('names of environment variables, separated by commas'),
  WHARF_EXPORT_TTL_HOURS: whole(168, 1, 87_600),
  WHARF_EXPORT_CONCURRENCY: whole(4, 1, 100),
  WHARF_EXPORT_TIMEOUT_MINUTES: whole(120, 1, 10_080),
  WHARF_EXPORT_PROJECT_LIMIT: whole(2_000, 1, 1_000_000),
  WHARF_EXPORT_MAX_ROWS: whole(50_000_000, 1, 1_000_000_000),
  WHARF_EXPORT_MAX_BYTES: whole(10_737_418_240, 1_048_576, 1_099_511_627_776),
  WHARF_SYNC_MAX_ROWS: whole(10_000, 1, 1_000_000),
  WHARF_SYNC_MAX_BYTES: whole(67_108_864, 1_048_576, 10_737_418_240),
  WHARF_QUOTA_REQUESTS_AT_ONCE: whole(4, 1, 10_000),
  WHARF_QUOTA_STREAMS: whole(5_000, 1, 1_000_000),
  WHARF_QUOTA_DISK_BYTES: whole(107_374_182_400, 0, 1_125_899_906_842_624),
  WHARF_QUOTA_ROWS_PER_DAY: whole(1_000_000_000, 0, 1_000_000_000_000),
  WHARF_QUOTA_BYTES_PER_DAY: whole(214_748_364_800, 0, 1_125_899_906_842_624),
  WHARF_EXCEL_MAX_ROWS: whole(800_000, 1, 1_048_576),
  WHARF_EXCEL_MAX_BYTES: whole(10_485_760, 65_536, 4_294_967_295),
  WHARF_SWARM_HOST: optional('a host name or address'),
  WHARF_SWARM_PORT: whole(0, 0, 65_535),
  WHARF_SWARM_CHAIN_DEPTH: whole(100, 1, 100_000),
  WHARF_SWARM_CHAINS: whole(20, 1, 100_000),
} as const satisfies Record<string, Setting<unknown>>

type Values = {
  -readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never
}

type Name = keyof Values

/** Settings that say together where something is, or who may come there. A part of it alone would be believed to be in force. */
interface Group {
  readonly whole: readonly Name[]
  /** What may be added to it. */
  readonly more?: readonly Name[]
  /** Where this is set, the group is not used at all. */
  readonly beside?: Name
}

const GROUPS: readonly Group[] = [
  {
    whole: ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
    more: ['S3_ENDPOINT', 'S3_REGION', 'CDN_BASE_URL'],
  },
  {
    whole: ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
    more: ['OIDC_CLIENT_SECRET', 'OIDC_ROLE_CLAIM', 'OIDC_SCOPES'],
  },
  { whole: ['REDIS_HOST'], more: ['REDIS_PORT', 'REDIS_PASSWORD', 'REDIS_DB'], beside: 'REDIS_URL' },
  { whole: ['TASK_GRPC_TLS_CERT', 'TASK_GRPC_TLS_KEY'], more: ['TASK_GRPC_TLS_CA'] },
  { whole: ['SMTP_URL'], more: ['SMTP_FROM'] },
]

/**
 * Settings that do nothing without another one and promise nothing: they are pointed out. OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES are not among them, because platforms set them for all programs.
 */
const USES: readonly { names: readonly Name[]; need: string; isMet: (values: Values) => boolean }[] = [
  {
    names: (Object.keys(SETTINGS) as Name[]).filter((name) => name.startsWith('GSE_')),
    need: 'TRANSFER_ENGINE=gse',
    isMet: (values) => values.TRANSFER_ENGINE === 'gse',
  },
  {
    names: ['SCAN_TIMEOUT_SECONDS', 'SCAN_CONCURRENCY'],
    need: 'SCAN_COMMAND',
    isMet: (values) => values.SCAN_COMMAND !== null,
  },
  {
    names: [
      'PROCESSOR_ENV',
      'TASK_PROCESSOR_CONCURRENCY',
      'TASK_PROCESSOR_TIMEOUT_SECONDS',
      'TASK_PROCESSOR_RETRIES',
      'TASK_RESULT_NAME',
    ],
    need: 'PROCESSOR_COMMAND',
    isMet: (values) => values.PROCESSOR_COMMAND !== null,
  },
  {
    names: ['WHARF_REDIS_PREFIX', 'TASK_QUEUE_KEY'],
    need: 'REDIS_URL or REDIS_HOST',
    isMet: (values) => redisUrlOf(values) !== null,
  },
  {
    names: ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_BSP_SCHEDULE_DELAY'],
    need: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    isMet: (values) => values.OTEL_EXPORTER_OTLP_ENDPOINT !== null,
  },
]

export interface Config extends Readonly<Values> {
  /** Where files go that all instances must see: the shared dir, or the data dir of a lone instance. */
  readonly filesDir: string
  /** One address, however Redis was given; null when embedded. */
  readonly redisUrl: string | null
  readonly isLoopback: boolean
  /** Only programs of this machine come here: it listens on loopback, and neither a public address nor a proxy leads others to it. */
  readonly isLocal: boolean
  /** The file that the admin token was read from, if it was. */
  readonly adminTokenFile: string | null
  /** Names of the settings that were set, as opposed to left at their default. */
  readonly given: ReadonlySet<string>
  /** A sentence for each name that looks like one of ours but is unknown: most likely a typing error. */
  readonly misspelt: readonly string[]
  /** A sentence for each setting that is taken, and most likely does not do what was meant. */
  readonly doubtful: readonly string[]
  /** What commands that Wharf starts see of the environment: nothing that could be a secret of the server. */
  readonly commandEnvironment: Readonly<Record<string, string>>
}

/** Which file a setting came from; what is missing was set in the environment. */
export type SettingFiles = ReadonlyMap<string, string>

/**
 * Adds the settings of files to the environment, and says which came from where. What is set already stays, and
 * `WHARF_CONFIG` wins over a `.env` beside the process.
 */
export function loadSettingFiles(env: NodeJS.ProcessEnv): SettingFiles {
  const files = new Map<string, string>()
  const add = (file: string, settings: NodeJS.Dict<string>) => {
    for (const [name, value] of Object.entries(settings)) {
      if (env[name] !== undefined || isSetAsFile(name, env)) continue
      env[name] = value
      files.set(name, file)
    }
  }
  const beside = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  const named = (env.WHARF_CONFIG ?? beside.WHARF_CONFIG)?.trim()
  if (named !== undefined && named !== '') add(named, readConfigFile(named))
  add('.env', beside)
  return files
}

/** Only settings may be in it: anything else is a typing error. */
function readConfigFile(file: string): NodeJS.Dict<string> {
  let settings: NodeJS.Dict<string>
  try {
    settings = parseEnv(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw invalid(`WHARF_CONFIG takes a file that can be read, not '${shown(file)}'`, cause)
  }
  const odd = Object.keys(settings).find((name) => !isKnown(name) || name === 'WHARF_CONFIG')
  if (odd === undefined) return settings
  throw invalid(`${file} sets ${odd}, which is not a setting that may be there; see .env.example`)
}

/** A secret of the environment, given as NAME or NAME_FILE, is not joined by the other form from a file. */
function isSetAsFile(name: string, env: NodeJS.ProcessEnv): boolean {
  const other = name.endsWith('_FILE') ? name.slice(0, -5) : `${name}_FILE`
  return isKnown(other) && env[other] !== undefined
}

export interface ShownSetting {
  name: string
  /** Null: not set, and there is no default. */
  value: string | null
  from: string
}

/** What is in force, for people: secrets are hidden. */
export function describeSettings(
  env: Record<string, string | undefined>,
  files: SettingFiles = new Map(),
): ShownSetting[] {
  const config: Record<string, unknown> = { ...loadConfig(env) }
  return Object.entries<Setting<unknown>>(SETTINGS).map(([name, known]) => {
    const asFile = known.secret && env[`${name}_FILE`] !== undefined
    const given = asFile ? `${name}_FILE` : name
    const place = files.get(given) ?? 'environment'
    const value = config[name]
    const isNone = value === null || (Array.isArray(value) && value.length === 0)
    return {
      name,
      value: isNone
        ? null
        : known.secret
          ? '(hidden)'
          : env[name] === undefined
            ? textOf(name, value)
            : env[name].trim(),
      from: env[given] === undefined ? 'default' : asFile ? `${place}, in ${env[given]}` : place,
    }
  })
}

function textOf(name: string, value: unknown): string {
  if (name === 'TASK_FILES_MODE') return `0${Number(value).toString(8)}`
  if (typeof value !== 'object' || value === null) return String(value)
  const { perSecond, burst } = value as { perSecond: number; burst: number }
  return `${perSecond}/s,burst=${burst}`
}

/** Settings of earlier versions that must not be passed over in silence. */
const GONE: Record<string, string> = {
  WHARF_AGENT_TOKEN:
    'each agent is enrolled once: POST /api/agents/enrollments {"agent_id", "container_id"} with the admin token, then wharf agent … --enroll TOKEN --state DIR',
}

export function loadConfig(env: Record<string, string | undefined>): Config {
  for (const [name, instead] of Object.entries(GONE))
    if (env[name] !== undefined) throw invalid(`${name} is gone, remove it; ${instead}`)
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, known]) => [name, read(name, known, env)]),
  ) as Values
  values.WHARF_DATA_DIR = resolve(values.WHARF_DATA_DIR)
  if (values.WHARF_SHARED_DIR !== null) values.WHARF_SHARED_DIR = resolve(values.WHARF_SHARED_DIR)
  const filesDir = values.WHARF_SHARED_DIR ?? values.WHARF_DATA_DIR
  // Their defaults move with the files.
  values.LOCAL_STORAGE_PATH = resolve(env.LOCAL_STORAGE_PATH?.trim() ?? join(filesDir, 'videos'))
  values.TEMP_STORAGE_PATH = resolve(env.TEMP_STORAGE_PATH?.trim() ?? join(filesDir, 'temp'))
  const isLoopback = isLoopbackHost(values.WHARF_HOST)
  // The links in mails would lead nowhere.
  if (values.SMTP_URL !== null) requireAll(values, 'SMTP_URL', ['WHARF_PUBLIC_URL'])
  if (values.TRANSFER_ENGINE === 'gse')
    requireAll(values, 'TRANSFER_ENGINE=gse', ['GSE_ENDPOINT', 'GSE_APP_CODE', 'GSE_APP_SECRET'])
  if (values.WHARF_ENCRYPT_FILES === 'on') {
    requireAll(values, 'WHARF_ENCRYPT_FILES=on', ['WHARF_SEAL_KEY'])
    if (values.CDN_BASE_URL !== null)
      throw invalid(
        'CDN_BASE_URL cannot be used with WHARF_ENCRYPT_FILES=on: encrypted files are downloaded through Wharf',
      )
  }
  for (const group of GROUPS) requireWhole(values, group)
  if (!isLoopbackHost(values.TASK_GRPC_HOST) && values.TASK_GRPC_TOKEN === null) {
    throw invalid('TASK_GRPC_TOKEN must be set when TASK_GRPC_HOST is not a loopback address')
  }
  return Object.freeze({
    ...values,
    filesDir,
    adminTokenFile:
      env.WHARF_ADMIN_TOKEN_FILE === undefined ? null : resolve(env.WHARF_ADMIN_TOKEN_FILE.trim()),
    redisUrl: redisUrlOf(values),
    isLoopback,
    isLocal: isLoopback && !isLedToFromOutside(values),
    given: new Set(Object.keys(SETTINGS).filter((name) => env[name] !== undefined)),
    commandEnvironment: commandEnvironment(env, values.PROCESSOR_ENV),
    misspelt: misspeltIn(Object.keys(env)),
    doubtful: doubtfulIn(values),
  })
}

function read<T>(name: string, known: Setting<T>, env: Record<string, string | undefined>): T {
  const file = known.secret ? env[`${name}_FILE`]?.trim() : undefined
  const value = (file === undefined ? env[name] : fromFile(name, file, env))?.trim()
  const where = file === undefined ? name : `the file of ${name}_FILE`
  if (value === undefined) return known.fallback
  if (value === '') {
    if ('empty' in known) return known.empty as T
    throw invalid(`${where} is empty; it takes ${known.takes}; leave it out for the default`)
  }
  // A second line is a second secret, or the end of a file that somebody wrote over.
  if (file !== undefined && /[\r\n]/.test(value))
    throw invalid(`${where} has more than one line; it must hold the secret alone`)
  const parsed = known.parse(value)
  if (parsed === undefined)
    throw invalid(`${where} takes ${known.takes}, not '${known.secret ? '…' : shown(value)}'`)
  return parsed
}

/** A secret may be in a file, as container platforms mount them, so that it is in no environment. */
function fromFile(name: string, file: string, env: Record<string, string | undefined>): string {
  if (env[name] !== undefined) throw invalid(`${name} and ${name}_FILE are both set; give one of them`)
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw invalid(`${name}_FILE takes a file that can be read, not '${shown(file)}'`, cause)
  }
}

/** What programs need to find their files and to speak the user's language. */
const PLAIN_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']

function commandEnvironment(
  env: Record<string, string | undefined>,
  more: string | null,
): Readonly<Record<string, string>> {
  const wanted = (more ?? '').split(/[\s,]+/).filter(Boolean)
  const own = wanted.find((name) => isKnown(name))
  if (own !== undefined)
    throw invalid(`PROCESSOR_ENV names ${own}, a setting of Wharf; commands get none of those`)
  const names = Object.keys(env).filter(
    (name) => PLAIN_VARIABLES.includes(name) || name.startsWith('LC_') || wanted.includes(name),
  )
  return Object.freeze(Object.fromEntries(names.map((name) => [name, env[name] ?? ''])))
}

function isKnown(name: string): boolean {
  const known: Record<string, Setting<unknown>> = SETTINGS
  return name in known || (name.endsWith('_FILE') && known[name.slice(0, -5)]?.secret === true)
}

/** What only commands read. */
const OF_COMMANDS: readonly string[] = ['WHARF_KEY']

/** What begins with WHARF_ is meant for us. Of other names, which others use as well, one letter may be wrong. */
function misspeltIn(names: readonly string[]): string[] {
  const known = Object.keys(SETTINGS)
  return names.flatMap((name) => {
    const isOurs = name.startsWith('WHARF_')
    const meant = closest(name, known, isOurs ? undefined : 1)
    if (isKnown(name) || OF_COMMANDS.includes(name) || (!isOurs && meant === undefined)) return []
    const hint = meant === undefined ? 'see .env.example' : `did you mean ${meant}?`
    return [`${name} is not a setting of Wharf; ${hint}`]
  })
}

function doubtfulIn(values: Values): string[] {
  const { WHARF_PUBLIC_URL: address, WHARF_UNREADY_SECONDS: unready, WHARF_DRAIN_SECONDS: drain } = values
  const path = address === null ? '/' : new URL(address).pathname
  const everyone = values.WHARF_TRUST_PROXY.find((range) => /\/0+$/.test(range))
  return [
    ...uselessIn(values),
    ...(path === '/'
      ? []
      : [
          `WHARF_PUBLIC_URL has a path (${path}): links lead there, but the console and signing in work only at the root of a host; give Wharf a host name of its own`,
        ]),
    ...(unready <= drain
      ? []
      : [
          `WHARF_UNREADY_SECONDS (${unready}) is more than WHARF_DRAIN_SECONDS (${drain}), which ends it: set WHARF_DRAIN_SECONDS to more`,
        ]),
    ...(everyone === undefined
      ? []
      : [
          `WHARF_TRUST_PROXY has ${everyone}, which is every address: any client can say that it comes from another one; name the proxies alone`,
        ]),
  ]
}

function uselessIn(values: Values): string[] {
  const alone = USES.flatMap(({ names, need, isMet }) =>
    isMet(values)
      ? []
      : names.filter((name) => isSet(values, name)).map((name) => `${name} has no effect without ${need}`),
  )
  const passedOver = GROUPS.flatMap(({ whole, more = [], beside }) =>
    beside === undefined || !isSet(values, beside)
      ? []
      : [...whole, ...more]
          .filter((name) => isSet(values, name))
          .map((name) => `${name} has no effect beside ${beside}, which is used`),
  )
  return [...alone, ...passedOver]
}

function shown(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value
}

function redisUrlOf(values: Values): string | null {
  if (values.REDIS_URL) return values.REDIS_URL
  if (!values.REDIS_HOST) return null
  const url = new URL(
    `redis://${isIP(values.REDIS_HOST) === 6 ? `[${values.REDIS_HOST}]` : values.REDIS_HOST}`,
  )
  url.port = String(values.REDIS_PORT)
  url.password = encodeURIComponent(values.REDIS_PASSWORD ?? '')
  url.pathname = `/${values.REDIS_DB}`
  return url.href
}

function isLedToFromOutside({ WHARF_PUBLIC_URL: address, WHARF_TRUST_PROXY: proxies }: Values): boolean {
  return proxies.length > 0 || (address !== null && !isLoopbackHost(new URL(address).hostname))
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\./.test(host)
}

function requireWhole(values: Values, { whole, more = [], beside }: Group): void {
  if (beside !== undefined && isSet(values, beside)) return
  const given = [...whole, ...more].find((name) => isSet(values, name))
  if (given !== undefined) requireAll(values, given, whole)
}

/** A default that is written out says nothing. */
function isSet(values: Values, name: Name): boolean {
  const value = values[name]
  return value !== null && (Array.isArray(value) ? value.length > 0 : value !== SETTINGS[name].fallback)
}

function requireAll(values: Values, because: string, names: readonly Name[]): void {
  const missing = names.filter((name) => values[name] === null)
  if (missing.length > 0) throw invalid(`${because} is set, so ${missing.join(', ')} must be set too`)
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.CONFIG_INVALID, message, { cause })
}
