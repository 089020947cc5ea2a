import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { ExportClient, startExports } from '../support/export-client.ts'
import { Front } from '../support/front.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { Scrape } from '../support/metrics.ts'
import { attributeOf, TraceCollector } from '../support/trace-collector.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${CALLER}-01`
const PRELOAD = new URL('../support/loaded-packages.ts', import.meta.url).href

describe.each(availableBackends())('on %s', (name) => {
  test('a trace goes from the caller through request, job, page and upload to the callback', async () => {
    const collector = await TraceCollector.start()
    const { business, client } = await startExports(name, {
      env: {
        ...collector.env,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    })
    const source = business.source({ total: 250 })
    const receiver = business.receiver(200)
    const { task_id } = await client.start(
      { source_url: source.url, callback: receiver.url },
      { traceparent },
    )
    await client.ended(task_id)
    const call = await receiver.call()
    const told = await collector.span('job callback')
    const request = await collector.span('POST /api/exports')
    const job = await collector.span('job export')
    const upload = await collector.span('upload')
    const pages = collector.of('page')
    const pulls = collector.of('GET').filter(({ traceId }) => traceId === TRACE)
    const posts = collector.of('POST')

    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2 })
    expect(job).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId, kind: 5 })
    expect(upload).toMatchObject({ traceId: TRACE, parentSpanId: job.spanId, kind: 1 })
    expect(told).toMatchObject({ traceId: TRACE, parentSpanId: job.spanId, kind: 5 })
    expect(pages.length).toBeGreaterThan(0)
    for (const page of pages) expect(page).toMatchObject({ traceId: TRACE, parentSpanId: job.spanId })
    const above = new Set([...pages, job].map(({ spanId }) => spanId))
    for (const pull of pulls) expect([pull.kind, above.has(pull.parentSpanId ?? '')]).toEqual([3, true])
    expect(posts).toMatchObject([{ traceId: TRACE, parentSpanId: told.spanId, kind: 3 }])

    const sent = new Set(pulls.map(({ spanId }) => `00-${TRACE}-${spanId}-01`))
    expect(
      source.pulls.map(({ headers }) => headers.traceparent).filter((text) => !sent.has(String(text))),
    ).toEqual([])
    expect(call.headers.traceparent).toBe(`00-${TRACE}-${posts[0]?.spanId}-01`)

    expect(attributeOf(request.attributes, 'http.response.status_code')).toBe('202')
    expect(attributeOf(job.attributes, 'wharf.job.outcome')).toBe('succeeded')
    for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
    expect(collector.headers[0]).toMatchObject({ 'x-tenant': 'a b', 'content-type': 'application/json' })
    const [resource = []] = collector.resources
    expect(attributeOf(resource, 'service.name')).toBe('wharf')
    expect(attributeOf(resource, 'deployment.environment.name')).toBe('test')
  })

  test('a job that goes on elsewhere stays in the trace of its request', async () => {
    const collector = await TraceCollector.start()
    const backend = await openBackend(name)
    const first = await startExports(name, { backend, env: collector.env })
    const source = first.business.source({ total: 5 })
    source.holdFrom(0)
    const { task_id } = await first.client.start({ source_url: source.url }, { traceparent })
    await source.untilHeld()
    await first.wharf.stop()
    const request = await collector.span('POST /api/exports')
    const second = await startHttp(name, { backend, env: collector.env })
    source.release()
    await new ExportClient(second.ask, first.client.project).ended(task_id)
    const jobs = await until('both claims were told', () => {
      const told = collector.of('job export')
      return told.length > 1 ? told : undefined
    })
    expect(jobs.map(({ attributes }) => attributeOf(attributes, 'wharf.job.outcome'))).toEqual([
      'released',
      'succeeded',
    ])
    for (const job of jobs) expect(job).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId })
    await second.stop()
    await backend.remove()
  })

  test('a processor is told of the trace, and its work is part of it', async () => {
    const collector = await TraceCollector.start()
    const script = join(temporaryFolder(), 'processor.sh')
    writeFileSync(script, 'printf %s "$TRACEPARENT" > "$2"\n')
    const { ask } = await startHttp(name, {
      env: { ...collector.env, PROCESSOR_COMMAND: `sh ${script} {input} {output}` },
    })
    const made = await ask('POST', '/api/uploads', {
      key: ADMIN_TOKEN,
      body: 'bytes',
      headers: {
        traceparent,
        'tus-resumable': '1.0.0',
        'upload-length': '5',
        'content-type': 'application/offset+octet-stream',
      },
    })
    const id = made.headers.get('location')?.split('/').at(-1)
    const result = await until('the result is there', async () => {
      const answer = await ask('GET', `/api/tasks/${id}/result`, { key: ADMIN_TOKEN })
      return answer.status === 200 ? answer.text() : undefined
    })
    const request = await collector.span('POST /api/uploads')
    const task = await collector.span(name === 'embedded' ? 'job processing' : 'task')
    expect(task).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId })
    expect(result).toBe(`00-${TRACE}-${task.spanId}-01`)
  })
})

test('without a collector the context of the caller is passed on as it came', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 3 })
  const receiver = business.receiver(200)
  const asked = { source_url: source.url, callback: receiver.url }
  await client.ended((await client.start(asked, { traceparent })).task_id)
  expect((await receiver.call()).headers.traceparent).toBe(traceparent)
  expect(new Set(source.pulls.map(({ headers }) => headers.traceparent))).toEqual(new Set([traceparent]))
  await client.ended((await client.start({ ...asked, fresh: true }, { traceparent: 'nonsense' })).task_id)
  expect((await receiver.call(1)).headers.traceparent).toBeUndefined()
})

test('a caller that wants no record gets none, and its decision is passed on', async () => {
  const collector = await TraceCollector.start()
  const { business, client } = await startExports('embedded', { env: collector.env })
  const source = business.source({ total: 3 })
  const unsampled = `00-${TRACE}-${CALLER}-00`
  await client.ended((await client.start({ source_url: source.url }, { traceparent: unsampled })).task_id)
  for (const { headers } of source.pulls)
    expect(headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-.*-00$`))
  await client.run({ source_url: `${source.url}?other` })
  await collector.span('job export')
  expect(collector.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([])
})

test('a failed job is an error in its trace, without what the source was asked for', async () => {
  const collector = await TraceCollector.start()
  const { business, client } = await startExports('embedded', { env: collector.env })
  const { task_id } = await client.start({
    source_url: `${business.origin}/nowhere?token=secret-of-the-source`,
  })
  await client.ended(task_id)
  expect((await collector.span('job export')).status).toMatchObject({ code: 2 })
  expect(JSON.stringify(collector.spans)).not.toContain('secret-of-the-source')
})

test('a collector that is away costs spans, and nothing else', async () => {
  // Leads nowhere: every connection is cut off.
  const front = await Front.open()
  onTestFinished(() => front.close())
  const { business, client, ask } = await startExports('embedded', {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: front.url, OTEL_BSP_SCHEDULE_DELAY: '1' },
  })
  await client.run({ source_url: business.source({ total: 250 }).url })
  await until('spans were dropped', async () => {
    const text = await (await ask('GET', '/metrics', { key: ADMIN_TOKEN })).text()
    return new Scrape(text).sum('wharf_trace_spans_total', { outcome: 'dropped' }) > 0
  })
})

test('without a collector nothing of tracing is loaded', async () => {
  const loaded = async (env: Record<string, string>) => {
    const file = join(temporaryFolder(), 'packages.json')
    const wharf = await serveWharf({ ...env, NODE_OPTIONS: `--import ${PRELOAD}`, LOADED_PACKAGES: file })
    expect((await fetch(`${wharf.address}/metrics`)).status).toBe(200)
    wharf.child.kill('SIGTERM')
    await wharf.exited
    const names = JSON.parse(readFileSync(file, 'utf8')) as string[]
    expect(names).toContain('fastify')
    return names.filter((name) => name.startsWith('@opentelemetry/') || name === 'wharf:otlp')
  }
  expect(await loaded({})).toEqual([])
  expect(await loaded((await TraceCollector.start()).env)).toEqual(['wharf:otlp'])
})
