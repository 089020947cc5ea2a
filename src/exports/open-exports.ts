import { join } from 'node:path'
import type { Domain, Ground } from '../domain/index.ts'
import { sharedSecret } from '../tenancy/index.ts'
import { ExpirySweeper } from './expiry.ts'
import { EXPORT_KIND, type ExportJobOptions, exportKind } from './export-job.ts'
import { exportsToNotice } from './export-subjects.ts'
import { Exports, type ExportsOptions } from './exports.ts'
import { requestFolders } from './immediate-exports.ts'
import { ExportArtifacts, RequestFolderSweeper, SpoolFolders, SpoolSweeper } from './pipeline/index.ts'
import { openSigner } from './report/index.ts'
import { EarlierRequests, SavedExports, Scheduler, TemplateStore } from './saved/index.ts'
import type { Mask } from './sheet/index.ts'
import { SqlConnections } from './sources/index.ts'
import { projectMaskKey } from './template/index.ts'
import { ThreadPool } from './threads/index.ts'

export interface ExportsApi {
  exports: Exports
  saved: SavedExports
  connections: SqlConnections
  templates: TemplateStore
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** At most: the duty itself knows when the next saved export is due. */
const SCHEDULES_EVERY_MS = 20_000

/** "Page this URL and give my operator an Excel file." */
export async function openExports(
  ground: Ground,
  options: ExportsOptions & { job: ExportJobOptions },
): Promise<Domain<ExportsApi>> {
  const { ledger, engine, store, net: http, log } = ground
  const { projects, quotas, sealer, settings } = ground.tenancy
  const pool = new ThreadPool()
  const folders = new SpoolFolders(join(options.dataDir, 'spool'))
  const maskSecret = await sharedSecret(settings, sealer, 'mask')
  const deps = {
    ...ground,
    ...ground.tenancy,
    http,
    pool,
    connections: new SqlConnections({ ledger, sealer, http }),
    templates: new TemplateStore(ledger),
    earlier: new EarlierRequests(sealer),
    signer: await openSigner(settings, sealer),
    masksOf: async (projectId: string) => ({
      demanded: (await projects.masks(projectId)) as Record<string, Mask>,
      key: projectMaskKey(maskSecret, projectId),
    }),
  }
  const exports = new Exports(deps, options)
  const saved = new SavedExports({ ledger, sealer, earlier: deps.earlier, exports })
  return {
    name: 'exports',
    api: { exports, saved, connections: deps.connections, templates: deps.templates },
    kinds: [exportKind({ ...deps, clock: engine.clock, folders }, options.job)],
    duties: [
      {
        duty: new Scheduler({ ledger, saved, exports, log }),
        everyMs: SCHEDULES_EVERY_MS,
        runs: 'leader',
      },
      { duty: new ExpirySweeper({ ledger, store, quotas }), everyMs: 5 * MINUTE, runs: 'leader' },
      { duty: new SpoolSweeper({ ledger, folders }), everyMs: HOUR, runs: 'local' },
      {
        duty: new RequestFolderSweeper(engine, { root: requestFolders(options.dataDir) }),
        everyMs: HOUR,
        runs: 'local',
      },
    ],
    views: {
      [EXPORT_KIND]: {
        get: (taskId, issuer) => exports.get(taskId, issuer),
        callback: (taskId) => exports.callback(taskId),
        notice: (taskId) => exports.notice(taskId),
      },
    },
    overview: { kind: EXPORT_KIND, attention: () => exportsToNotice(ledger) },
    artifacts: new ExportArtifacts({ ledger }),
    stop: () => pool.close(),
  }
}
