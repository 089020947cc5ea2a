import { expect, onTestFinished, test } from 'vitest'
import type { Download } from '../../../src/exports/export-queries.ts'
import { problemOf, sha256, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { S3Server } from '../../support/s3-server.ts'
import { until } from '../../support/until.ts'

async function setup(env: Record<string, string> = {}) {
  const s3 = await S3Server.start()
  onTestFinished(() => s3.stop())
  const clock = new FastClock(1)
  const bundle = await startExports('embedded', {
    clock,
    env: {
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      ...env,
    },
  })
  return { ...bundle, s3, clock }
}

test('a file in a bucket is had like one on disk: whole, in ranges, named, and swept in time', async () => {
  const { business, client, s3, clock } = await setup()
  const source = business.source({ total: 100 })
  const view = await client.run({ source_url: source.url, file_name: '报表' })
  const [object] = [...s3.objects.values()]
  const { etag } = object ?? {}
  expect(sha256(object?.body ?? Buffer.alloc(0))).toBe(view.file?.sha256)
  expect(object?.contentType).toBe('text/csv; charset=utf-8')
  const whole = await client.bytes(view.task_id)
  expect(sha256(whole)).toBe(view.file?.sha256)
  const part = await client.ask('GET', `/api/exports/${view.task_id}/file`, {
    key: client.project.key,
    headers: { range: 'bytes=-9' },
  })
  expect([part.status, await part.text()]).toEqual([206, whole.subarray(-9).toString()])
  expect(part.headers.get('content-disposition')).toContain(
    `filename*=UTF-8''${encodeURIComponent('报表')}.csv`,
  )
  const stored = object?.body ?? Buffer.alloc(0)
  for (const body of [stored.subarray(0, -1), Buffer.concat([stored, stored])]) {
    Object.assign(object ?? {}, { body })
    for (const headers of [{}, { range: 'bytes=0-3' }])
      expect(
        await problemOf(
          client.ask('GET', `/api/exports/${view.task_id}/file`, { key: client.project.key, headers }),
        ),
      ).toMatchObject({ status: 500, code: 'ARTIFACT_DAMAGED' })
  }
  const other = Buffer.from(stored)
  other[0] = (other[0] ?? 0) ^ 1
  Object.assign(object ?? {}, { body: other, etag: '"other"' })
  for (const headers of [{}, { range: 'bytes=0-3' }])
    expect(
      await problemOf(
        client.ask('GET', `/api/exports/${view.task_id}/file`, { key: client.project.key, headers }),
      ),
    ).toMatchObject({ status: 500, code: 'ARTIFACT_DAMAGED' })
  Object.assign(object ?? {}, { body: stored, etag })
  const beyond = client.ask('GET', `/api/exports/${view.task_id}/file`, {
    key: client.project.key,
    headers: { range: 'bytes=99999-' },
  })
  expect(await problemOf(beyond)).toMatchObject({ status: 416 })
  clock.advance(8 * 24 * 3_600_000)
  await until('the bucket is empty', () => s3.objects.size === 0)
  expect(await problemOf(client.get(view.task_id, '/file'))).toMatchObject({ status: 410 })
})

test('a large file goes up in parts', async () => {
  const { business, client, s3 } = await setup()
  const source = business.source({ total: 700, row: (n) => ({ n, text: String(n % 10).repeat(20_000) }) })
  const view = await client.run({ source_url: source.url, page_size: 100 })
  expect(s3.seen.filter((operation) => operation === 'UploadPart').length).toBeGreaterThan(1)
  expect(sha256(await client.bytes(view.task_id))).toBe(view.file?.sha256)
  expect(s3.uploads.size).toBe(0)
})

test('with a CDN in front, the download address leads there, and is still logged', async () => {
  const { wharf, business, client, s3 } = await setup({ CDN_BASE_URL: 'https://cdn.example/files/' })
  const view = await client.run({ source_url: business.source({ total: 1 }).url })
  const answer = await fetch(view.download_url ?? '', { redirect: 'manual' })
  expect(answer.status).toBe(302)
  const [key = ''] = [...s3.objects.keys()]
  expect(answer.headers.get('location')).toBe(`https://cdn.example/files/${key}`)
  const forged = fetch(`${view.download_url}x`, { redirect: 'manual' })
  expect(await problemOf(forged)).toMatchObject({ status: 401 })
  await until(
    'it is logged',
    async () => (await client.items<Download>(view.task_id, 'downloads')).length === 1,
  )
  expect(wharf.config.CDN_BASE_URL).not.toBeNull()
})
