import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import type { Config } from '../../config.ts'
import type { Domain, Ground } from '../../domain/index.ts'
import { openExports } from '../../exports/index.ts'
import {
  connectionRoutes,
  exportRoutes,
  type HttpDeps,
  processingRoutes,
  runRoutes,
  savedExportRoutes,
  templateRoutes,
  transferRoutes,
} from '../../http/index.ts'
import { checkNotify } from '../../notify/index.ts'
import { openProcessing } from '../../processing/index.ts'
import { openRuns } from '../../runs/index.ts'
import { openTransfers } from '../../transfers/index.ts'
import { processingOptions } from './processing.ts'
import { transfersOptions } from './transfers.ts'

/** Every kind of work: how it is opened, its options out of the settings, and its routes. */
export const DOMAINS = {
  exports: entry(
    openExports,
    exportsOptions,
    exportRoutes,
    connectionRoutes,
    templateRoutes,
    savedExportRoutes,
  ),
  transfers: entry(openTransfers, transfersOptions, transferRoutes),
  runs: entry(openRuns, runsOptions, runRoutes),
  processing: entry(openProcessing, processingOptions, processingRoutes),
}

export interface DomainEntry<Api = unknown> {
  open(ground: Ground, config: Config): Promise<OpenedDomain<Api>>
}

export interface OpenedDomain<Api = unknown> {
  domain: Domain<Api>
  routes(deps: HttpDeps): FastifyPluginAsync[]
}

export type DomainTable = Readonly<Record<string, DomainEntry>>

/** What each domain of a table offers. */
export type Apis<Table extends DomainTable> = {
  readonly [Name in keyof Table]: Table[Name] extends DomainEntry<infer Api> ? Api : never
}

export function entry<Api, Options>(
  open: (ground: Ground, options: Options) => Promise<Domain<Api>>,
  optionsOf: (config: Config, ground: Ground) => Options,
  ...routes: ((deps: HttpDeps, api: Api) => FastifyPluginAsync)[]
): DomainEntry<Api> {
  return {
    async open(ground, config) {
      const domain = await open(ground, optionsOf(config, ground))
      return { domain, routes: (deps) => routes.map((route) => route(deps, domain.api)) }
    },
  }
}

const HOUR = 3_600_000
const MINUTE = 60_000

function exportsOptions(config: Config, { net }: Ground) {
  const excel = { maxRows: config.WHARF_EXCEL_MAX_ROWS, maxBytes: config.WHARF_EXCEL_MAX_BYTES }
  const able = {
    mail: config.SMTP_URL !== null,
    publicUrl: config.WHARF_PUBLIC_URL !== null,
    checkUrl: (url: string) => net.check(url),
  }
  return {
    dataDir: config.WHARF_DATA_DIR,
    projectLimit: config.WHARF_EXPORT_PROJECT_LIMIT,
    sync: { maxRows: config.WHARF_SYNC_MAX_ROWS, maxBytes: config.WHARF_SYNC_MAX_BYTES },
    excel,
    job: {
      concurrency: config.WHARF_EXPORT_CONCURRENCY,
      timeoutMs: config.WHARF_EXPORT_TIMEOUT_MINUTES * MINUTE,
      ttlMs: config.WHARF_EXPORT_TTL_HOURS * HOUR,
      limits: { maxRows: config.WHARF_EXPORT_MAX_ROWS, maxBytes: config.WHARF_EXPORT_MAX_BYTES },
      excel,
    },
    checkNotify: (wish: object) => checkNotify(wish, able),
  }
}

function runsOptions(config: Config, { sole }: Ground) {
  return {
    folder: join(config.filesDir, 'accounts'),
    connections: config.WHARF_RUN_CONNECTIONS,
    alone: sole,
  }
}
