import { expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { startExports } from '../../support/export-client.ts'

test.each(availableBackends())(
  'a list can be searched by name, title, saved export, operator and id, and says what was asked for (%s)',
  async (backend) => {
    const { business, client } = await startExports(backend)
    const source = business.source({ total: 1 })
    source.holdFrom(0)
    const body = { source_url: source.url, fresh: true }
    const named = await client.start({ ...body, file_name: 'Orders 100%_a', type: 'excel' })
    const given = await client.start({ ...body, file_name: 'plain', operator_id: '王伟' })
    expect(await client.task(named.task_id)).toMatchObject({
      file_name: 'Orders 100%_a',
      type: 'excel',
      file: null,
    })
    const search = async (text: string) => {
      const path = `/api/projects/${client.project.id}/exports?search=${encodeURIComponent(text)}`
      const answer = await client.ask('GET', path, { key: client.project.key })
      return ((await answer.json()) as { items: ExportView[] }).items.map(({ task_id }) => task_id)
    }
    expect(await search('oRDERS')).toEqual([named.task_id])
    expect(await search('100%_')).toEqual([named.task_id])
    expect(await search('0_a')).toEqual([])
    expect(await search('王')).toEqual([given.task_id])
    expect(await search(given.task_id.toUpperCase())).toEqual([given.task_id])
    expect(await search('')).toEqual([given.task_id, named.task_id])
    const titled = await client.start({ ...body, file_name: 'x', title: 'Umsätze im JUNI' })
    expect(await search('sätze im juni')).toEqual([titled.task_id])
    const saved = '/api/saved-exports/Month-end'
    await client.ask('PUT', saved, { key: client.project.key, body })
    const run = await client.ask('POST', `${saved}/run`, { key: client.project.key, body: {} })
    const { task_id } = (await run.json()) as ExportView
    expect(await search('month-E')).toEqual([task_id])
    source.release()
  },
)
