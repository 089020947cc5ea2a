import { expect, onTestFinished, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { BusinessSystem } from '../support/business-system.ts'
import { startExportProcess } from '../support/export-process.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test.runIf(availableBackends().length > 1)(
  'when an instance is killed, another one takes its export over, starts anew and says so',
  async () => {
    const backend = await openBackend('postgres + redis')
    onTestFinished(() => backend.remove())
    const env = {
      ...backend.env,
      WHARF_LEASE_SECONDS: '6',
      WHARF_EXPORT_CONCURRENCY: '1',
      WHARF_SEAL_KEY: 'x'.repeat(32),
    }
    const business = await BusinessSystem.start()
    const sources = [business.source({ total: 250 }), business.source({ total: 250 })]
    for (const source of sources) source.holdFrom(1)
    // One place each: both instances have something to do.
    const survivor = await startExportProcess({ ...env, WHARF_DATA_DIR: temporaryFolder() })
    const victim = await startExportProcess({ ...env, WHARF_DATA_DIR: temporaryFolder() })
    const client = await survivor.newClient()
    const tasks: string[] = []
    for (const { url } of sources)
      tasks.push((await client.start({ source_url: url, page_size: 100 })).task_id)
    for (const source of sources) await source.untilHeld()
    await victim.kill()
    for (const source of sources) source.release()
    const views = []
    for (const task of tasks) views.push(await client.ended(task))
    for (const view of views) expect(view).toMatchObject({ status: 'succeeded', file: { rows: 250 } })
    expect(views.flatMap(({ warnings }) => warnings)).toEqual([
      expect.stringMatching(/broken off and started anew: there is no earlier fetch on this instance/),
    ])
    expect(sources.map(({ probes }) => probes).sort()).toEqual([1, 2])
    const anew = sources.find(({ probes }) => probes === 2)
    expect(anew?.pages.filter((page) => page === 0)).toHaveLength(2)
    await until('it is in the log', () =>
      survivor.logged('fetching pages').some(({ resumed }) => resumed === false),
    )
  },
)
