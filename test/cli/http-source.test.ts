import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PRESET_NAMES } from '../../src/cli/options/http-source.ts'
import { PRESETS } from '../../src/exports/index.ts'
import { rowsFrom, startApi } from '../exports/sources/http/api-server.ts'
import { runWharf, temporaryFolder } from '../support/wharf-process.ts'

async function exported(...args: string[]) {
  const file = join(temporaryFolder(), 'rows.csv')
  const { exited, output } = runWharf(['export', ...args, '--no-bom', '-o', file])
  const ended = { ...(await exited), ...output }
  return { ...ended, lines: () => readFileSync(file, 'utf8').split('\r\n') }
}

test('the help names every preset', () => {
  expect(PRESET_NAMES.split(', ')).toEqual([...PRESETS])
})

test('wharf export --preset, and --source with an address that replaces its own', async () => {
  const api = await startApi((request) => {
    const from = request.number('from', 0)
    const next = from < 40 ? `${request.url.origin}/?from=${from + 20}` : null
    return { body: { count: 60, next, results: rowsFrom(from, from + 20) } }
  })
  const preset = await exported(api.origin, '--preset', 'drf', '--page-size', '5000', '--header', 'X-Key: a')
  expect(preset).toMatchObject({ code: 0 })
  expect(preset.err).toContain('fetching: 60 of 60 rows, 100 %\n')
  expect(preset.lines()).toHaveLength(62)
  expect(api.asked[0]?.url.search).toBe('?page_size=5000')
  expect(api.asked.every(({ headers }) => headers['x-key'] === 'a')).toBe(true)
  const file = join(temporaryFolder(), 'source.json')
  writeFileSync(file, JSON.stringify({ kind: 'http', preset: 'drf', url: 'http://x/', total: null }))
  const sourced = await exported(`${api.origin}/?from=20`, '--source', file)
  expect(sourced).toMatchObject({ code: 0 })
  expect(sourced.err).toMatch(/fetching: \d+ rows\n/)
  expect(sourced.lines()).toHaveLength(42)
})

test('what is wrong with a source is one line', async () => {
  const file = join(temporaryFolder(), 'source.json')
  const wrong: [string, string[], RegExp][] = [
    ['{"url":"http://127.0.0.1:9/","paging":{"style":"x"}}', [], /source.paging.style has an invalid value/],
    ['{"url":"http://127.0.0.1:9/","row":"x"}', [], /source.row is unknown; there are .*rows/],
    ['{"preset":"drf"}', [], /source.url is missing/],
    [
      '{"url":"http://127.0.0.1:9/","body":{"id":9007199254740993}}',
      [],
      /source.body.id is 9007199254740993, which has more digits/,
    ],
    ['{', [], /is not JSON/],
    ['[]', ['http://127.0.0.1:9/'], /is not an object/],
    ['{"url":"http://127.0.0.1:9/"}', ['--sql', 'select 1', '--connection', 'x'], /either the address/],
  ]
  for (const [text, args, reason] of wrong) {
    writeFileSync(file, text)
    const { code, err } = await exported(...args, '--source', file)
    expect({ code, err }, text).toMatchObject({ code: 1, err: expect.stringMatching(reason) })
  }
  expect((await exported('http://127.0.0.1:9/', '--page-size', '5000')).err).toMatch(
    /--page-size takes 100 to 1,000/,
  )
})
