import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { startHttp } from '../../support/http.ts'

const readDocument = async () => (await (await startHttp()).ask('GET', '/openapi.json')).json()

test("Redocly's recommended rules find nothing in the API document", async () => {
  const source = JSON.stringify(await readDocument())
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source, config })
  const faults = found.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`,
  )
  expect(faults).toEqual([])
})

test("Spectral's recommended rules find nothing in the API document", async () => {
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [[rulesets.oas as never, 'recommended']], rules: {} })
  const found = await linter.run((await readDocument()) as Record<string, unknown>)
  expect(found.map(({ code, message, path }) => `${code}: ${message} at ${path.join('/')}`)).toEqual([])
})
