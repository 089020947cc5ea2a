import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LiveConnection as Connection } from '../../console/src/live/connection.ts'
import { until } from '../support/until.ts'

/** A server of one page: each connection to its events is in the hands of the test. */
class FakeServer {
  readonly streams: ReadableStreamDefaultController<Uint8Array>[] = []
  readonly asked: string[] = []
  seq = 5
  status = 200

  fetch = async (path: string, { signal }: RequestInit = {}): Promise<Response> => {
    this.asked.push(path)
    if (this.status !== 200) return Response.json({ code: 'X', detail: 'x' }, { status: this.status })
    if (path === '/api/session') return Response.json({ role: 'admin', seq: this.seq })
    const start = (stream: ReadableStreamDefaultController<Uint8Array>) => {
      this.streams.push(stream)
      signal?.addEventListener('abort', () => stream.error(signal.reason))
    }
    return new Response(new ReadableStream({ start }))
  }

  tell(event: { seq: number; prev_seq: number; type?: string }, cut = 0): void {
    const text = new TextEncoder().encode(`id: ${event.seq}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`)
    // Where a network happens to cut it.
    this.streams.at(-1)?.enqueue(text.slice(0, cut))
    this.streams.at(-1)?.enqueue(text.slice(cut))
  }
}

describe('the line to the server', () => {
  let server: FakeServer
  let connection: Connection
  let snapshots: number
  const seen: number[] = []

  beforeEach(async () => {
    server = new FakeServer()
    snapshots = 0
    seen.length = 0
    vi.stubGlobal('fetch', server.fetch)
    vi.stubGlobal('sessionStorage', { getItem: () => null, setItem() {}, clear() {} })
    vi.stubGlobal('localStorage', { getItem: () => null, setItem() {}, removeItem() {} })
    vi.stubGlobal('document', { documentElement: { lang: 'en' } })
    vi.stubGlobal('window', new EventTarget())
    const { LiveConnection } = await import('../../console/src/live/connection.ts')
    connection = new LiveConnection({
      onSnapshotNeeded: () => snapshots++,
      onEvent: ({ seq }) => seen.push(seq),
    })
  })

  afterEach(() => {
    connection.close()
    vi.unstubAllGlobals()
  })

  test('it asks where the log stands, follows from there, and only then has snapshots taken', async () => {
    void connection.run()
    await until('it is live', () => connection.link.get() === 'live')
    expect(server.asked).toEqual(['/api/session', '/api/events?after=5'])
    expect(snapshots).toBe(1)
    server.tell({ seq: 7, prev_seq: 5 }, 9)
    server.tell({ seq: 8, prev_seq: 7 })
    await until('both events were seen', () => seen.length === 2)
    expect(snapshots).toBe(1)
  })

  test('an event that does not follow the one before it asks for a new snapshot', async () => {
    void connection.run()
    await until('it is live', () => connection.link.get() === 'live')
    server.tell({ seq: 9, prev_seq: 8 })
    await until('the event was seen', () => seen.length === 1)
    expect(snapshots).toBe(2)
  })

  test('a server that says resync has everything read again, and its events follow from there', async () => {
    void connection.run()
    await until('it is live', () => connection.link.get() === 'live')
    server.tell({ seq: 2, prev_seq: 2, type: 'resync' })
    await until('a snapshot was taken', () => snapshots === 2)
    server.tell({ seq: 3, prev_seq: 2 })
    await until('the event was seen', () => seen.length === 1)
    expect(snapshots).toBe(2)
  })

  test('a line that breaks shows as offline, is opened again, and begins with a new snapshot', async () => {
    void connection.run()
    await until('it is live', () => connection.link.get() === 'live')
    server.seq = 2
    server.streams[0]?.error(new Error('reset'))
    await until('it is offline', () => connection.link.get() === 'offline')
    expect(connection.nextTryAt.get()).not.toBeNull()
    connection.tryNow()
    await until('it is live again', () => connection.link.get() === 'live')
    expect(server.asked.at(-1)).toBe('/api/events?after=2')
    expect(snapshots).toBe(2)
  })

  test('a browser that loses its network shows it at once, and stays offline until the server answers', async () => {
    void connection.run()
    await until('it is live', () => connection.link.get() === 'live')
    server.status = 503
    window.dispatchEvent(new Event('offline'))
    await until('it is offline', () => connection.link.get() === 'offline')
    const asked = server.asked.length
    connection.tryNow()
    await until('it has asked again', () => server.asked.length > asked)
    expect(connection.link.get()).toBe('offline')
    server.status = 200
    window.dispatchEvent(new Event('online'))
    await until('it is live again', () => connection.link.get() === 'live')
  })

  test('a session that is refused ends it, and leads back to signing in', async () => {
    const { session, signedOutBecause } = await import('../../console/src/api/session.ts')
    server.status = 401
    await connection.run()
    expect(session.get()).toBeNull()
    expect(signedOutBecause.get()).toBe('expired')
    expect(server.asked).toEqual(['/api/session'])
  })
})
