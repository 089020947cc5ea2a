import { expect, test } from 'vitest'
import { metricsAccess } from '../../src/app/ground/metrics.ts'
import { loadConfig } from '../../src/config.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'

const TOKEN = 'a-token-for-metrics'

test('[no-key] metrics need their token or the admin token, and no project key opens them', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_METRICS_TOKEN: TOKEN } })
  const { key } = await newProject(wharf)
  const status = async (shown?: string) =>
    (await wharf.ask('GET', '/metrics', shown === undefined ? {} : { key: shown })).status
  for (const shown of [undefined, 'wrong', key]) expect(await status(shown), shown).toBe(401)
  for (const shown of [TOKEN, ADMIN_TOKEN]) expect(await status(shown), shown).toBe(200)
})

test('[no-key] metrics have a port of their own, where there is nothing else', async () => {
  const wharf = await startHttp('embedded', {
    env: { WHARF_METRICS_PORT: '0', WHARF_METRICS_TOKEN: TOKEN },
  })
  const headers = { authorization: `Bearer ${TOKEN}` }
  expect((await wharf.ask('GET', '/metrics', { key: ADMIN_TOKEN })).status).toBe(404)
  const answer = await fetch(`${wharf.metricsAddress}/metrics`, { headers })
  expect(await answer.text()).toContain('# TYPE')
  expect((await fetch(`${wharf.metricsAddress}/metrics`)).status).toBe(401)
  for (const path of ['/', '/api/projects', '/metrics/'])
    expect((await fetch(`${wharf.metricsAddress}${path}`, { headers })).status, path).toBe(404)
})

test('without a token metrics are open on loopback, or on their own port, and nowhere else', () => {
  const isOpen = (env: Record<string, string>) => metricsAccess(loadConfig(env), 'hash').tokenHashes === null
  expect(isOpen({})).toBe(true)
  expect(isOpen({ WHARF_HOST: '0.0.0.0' })).toBe(false)
  expect(isOpen({ WHARF_HOST: '0.0.0.0', WHARF_METRICS_PORT: '9090' })).toBe(true)
  expect(isOpen({ WHARF_METRICS_TOKEN: TOKEN })).toBe(false)
})

test('samples and the API reference can be switched off', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_SAMPLES: 'off', WHARF_DOCS: 'off' } })
  for (const path of ['/samples/orders', '/docs', '/docs/json', '/openapi.json'])
    expect((await wharf.ask('GET', path)).status, path).toBe(404)
})
