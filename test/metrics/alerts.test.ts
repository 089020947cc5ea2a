import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { findPromtool, Scrape } from '../support/metrics.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROMTOOL = findPromtool()
const RULES = 'deploy/prometheus/alerts.yaml'
const UNIT_TESTS = 'deploy/prometheus/alerts.test.yaml'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const rules = (
  parse(read(RULES)) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap((group) => group.rules)
const alerts = rules.map(({ alert }) => alert)
const { panels } = JSON.parse(read('deploy/grafana/wharf.json')) as {
  panels: { title: string; targets?: { expr: string }[] }[]
}
const drawn = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** The metrics that a text names; what is called like a function is none. */
function named(text: string): string[] {
  return [...text.matchAll(/\b(?:wharf|nodejs|process)_[a-z0-9_]+\b(?!\(|\.)/g)].map(([name]) => name)
}

test('every metric in the dashboard, the alerts and the docs exists', async () => {
  const { ask } = await startHttp()
  const { types } = new Scrape(await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text())
  const texts = {
    dashboard: drawn.join('\n'),
    alerts: read(RULES),
    operations: read('docs/operations.md'),
    metrics: read('docs/metrics.md'),
  }
  const isKnown = (name: string) => types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, ''))
  for (const [where, text] of Object.entries(texts)) {
    expect(named(text).length, where).toBeGreaterThan(0)
    expect([where, named(text).filter((name) => !isKnown(name))]).toEqual([where, []])
  }
})

test('every alert has a line in the runbook and a unit test, and every line an alert', () => {
  const lines = [...read('docs/operations.md').matchAll(/^\| `(Wharf\w+)` \|/gm)].map(([, name]) => name)
  expect(lines).toEqual(alerts)
  const { tests } = parse(read(UNIT_TESTS)) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
  }
  const cases = tests.flatMap((one) => one.alert_rule_test)
  for (const alert of alerts) {
    const own = cases.filter(({ alertname }) => alertname === alert)
    expect([
      alert,
      own.some((one) => one.exp_alerts.length > 0),
      own.some((one) => one.exp_alerts.length === 0),
    ]).toEqual([alert, true, true])
  }
})

test.runIf(PROMTOOL)(
  'promtool takes the alerts, their unit tests and every expression of the dashboard',
  () => {
    const folder = temporaryFolder()
    const expressions = join(folder, 'dashboard.yaml')
    const recorded = drawn.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    writeFileSync(expressions, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    for (const given of [
      ['check', 'rules', join(ROOT, RULES)],
      ['check', 'rules', expressions],
      ['test', 'rules', join(ROOT, UNIT_TESTS)],
    ]) {
      const checked = spawnSync(PROMTOOL ?? '', given, { encoding: 'utf8' })
      expect([checked.status, checked.stdout + checked.stderr]).toEqual([
        0,
        expect.stringContaining('SUCCESS'),
      ])
    }
  },
)
