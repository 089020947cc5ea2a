import { expect, test } from 'vitest'
import { judgeAudit, judgeSignatures } from '../../scripts/advisories.ts'

test('a registry that cannot be asked fails nothing, and is found', () => {
  for (const output of [
    '',
    'ENOTFOUND',
    '{"error":{"code":"ECONNREFUSED"}}',
    '{"message":"not found"}',
    'null',
  ])
    for (const judge of [judgeAudit, judgeSignatures])
      expect(judge(output), output).toEqual({ skipped: expect.stringContaining('registry') })
})

test('high and critical vulnerabilities fail, lower ones do not', () => {
  const audit = (vulnerabilities: Record<string, string>) =>
    judgeAudit(
      JSON.stringify({
        vulnerabilities: Object.fromEntries(
          Object.entries(vulnerabilities).map(([name, severity]) => [name, { severity }]),
        ),
        metadata: { vulnerabilities: { total: Object.keys(vulnerabilities).length } },
      }),
    )
  expect(audit({})).toMatchObject({ ok: true })
  expect(audit({ a: 'low', b: 'moderate' })).toMatchObject({ ok: true })
  expect(audit({ a: 'low', b: 'high' })).toEqual({ ok: false, found: 'known vulnerabilities: b (high)' })
  expect(audit({ a: 'critical' })).toMatchObject({ ok: false })
})

test('a wrong signature fails, a missing one does not', () => {
  const wrong = { invalid: [{ name: 'a', version: '1.0.0' }], missing: [] }
  expect(judgeSignatures(JSON.stringify(wrong))).toEqual({ ok: false, found: 'wrong signatures: a@1.0.0' })
  expect(judgeSignatures(JSON.stringify({ invalid: [], missing: [{ name: 'a' }] }))).toMatchObject({
    ok: true,
  })
})
