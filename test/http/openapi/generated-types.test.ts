import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startHttp } from '../../support/http.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'

/** A client's view of the API: it compiles only if the generated types say what the API does. */
const CLIENT = `
import type { components, operations, paths, webhooks } from './api.ts'

export const task = (made: components['schemas']['ExportTask']): string => made.task_id
export const request: components['schemas']['ExportRequest'] = {
  source: { kind: 'sql', connection: 'erp', query: 'SELECT 1' },
  template: [{ title: 'Group', children: [{ name: 'id', type: 'money', totals: 'sum' }] }],
  header: { Source: 'ERP' },
  sheets: [{ name: 'a', source_url: 'https://erp.example.com' }],
}
export const headers: operations['createExport']['parameters']['header'] = { 'Idempotency-Key': 'one' }
export const path: paths['/api/repository/{path}']['put']['parameters']['path'] = { path: 'a/b' }
type Callback = webhooks['exportEnded']['post']['requestBody']['content']['application/json']
export const status = (callback: Callback): string => callback.data.status
type Problem = operations['getExport']['responses']['default']['content']['application/problem+json']
export const code = (problem: Problem): string => problem.code
`

const TSC = new URL('../../../node_modules/typescript/bin/tsc', import.meta.url).pathname
const OPTIONS = [
  '--noEmit',
  '--strict',
  '--allowImportingTsExtensions',
  '--target',
  'esnext',
  '--ignoreConfig',
]
const MODULES = ['--module', 'esnext', '--moduleResolution', 'bundler']

test('what openapi-typescript makes of the API document compiles, and a client can use it', async () => {
  const document = await (await (await startHttp()).ask('GET', '/openapi.json')).text()
  const folder = temporaryFolder()
  const [client, types] = [join(folder, 'client.ts'), join(folder, 'api.ts')]
  writeFileSync(join(folder, 'openapi.json'), document)
  writeFileSync(client, CLIENT)
  const script = new URL('generate-types.mjs', import.meta.url).pathname
  execFileSync(process.execPath, [script, join(folder, 'openapi.json'), types])
  const { stdout, status } = spawnSync(process.execPath, [TSC, ...OPTIONS, ...MODULES, client], {
    encoding: 'utf8',
  })
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
})
