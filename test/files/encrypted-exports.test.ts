import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startExports } from '../support/export-client.ts'

test('[sealed-files] an export is encrypted on disk, and downloaded as a whole and in ranges', async () => {
  const { business, client, wharf } = await startExports('embedded', {
    env: { WHARF_ENCRYPT_FILES: 'on', WHARF_SEAL_KEY: 'a-seal-key-for-tests' },
  })
  const { file, download_url } = await client.run({
    source_url: business.source({ total: 6_000 }).url,
    page_size: 1_000,
  })
  const whole = Buffer.from(await (await fetch(String(download_url))).arrayBuffer())
  expect(createHash('sha256').update(whole).digest('hex')).toBe(file?.sha256)
  const part = await fetch(String(download_url), { headers: { range: 'bytes=70000-70099' } })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 70000-70099/${whole.length}`])
  expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(70_000, 70_100))).toBe(true)
  const line = whole.subarray(whole.indexOf('\n', 1_000) + 1, whole.indexOf('\n', 1_200))
  const stored = readdirSync(join(wharf.config.filesDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  expect(Math.max(...stored.map((bytes) => bytes.length))).toBeGreaterThan(whole.length)
  expect(stored.filter((bytes) => bytes.includes(line))).toEqual([])
})
