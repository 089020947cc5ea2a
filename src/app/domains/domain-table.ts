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
import { openProcessing } from '../../processing/index.ts'
import { openRuns } from '../../runs/index.ts'
import { openTransfers } from '../../transfers/index.ts'
import { exportsOptions } from './exports.ts'
import { processingOptions } from './processing.ts'
import { runsOptions } from './runs.ts'
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
