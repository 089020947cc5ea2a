import { get, type IncomingMessage } from 'node:http'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { availableBackends, scaledOut } from '../support/backends.ts'
import { queryRows } from '../support/databases.ts'
import { openEvents, openSocket } from '../support/event-readers.ts'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const scaled = inject('postgresUrl') && inject('redisUrl')
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
type Started = Awaited<ReturnType<typeof startHttp>>

/** Appends events of about `bytes` each. */
const say = ({ engine, ledger }: Pick<Started, 'engine' | 'ledger'>, count = 1, bytes = 10) =>
  ledger.transaction(async (tx) => {
    const event = { type: 'e', kind: 'k', projectId: null, taskId: null, jobId: null }
    const data = { text: 'x'.repeat(bytes) }
    for (let left = count; left > 0; left -= 500)
      await engine.emit(tx, ...Array.from({ length: Math.min(left, 500) }, () => ({ ...event, data })))
  })

/** A reader that reads nothing until it is told to. */
async function openHeld(url: string) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { headers: admin, agent: false }, resolve).on('error', reject),
  )
  onTestFinished(() => void answer.destroy())
  return {
    /** Everything that comes until the server ends the stream. */
    async rest(): Promise<string> {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      return text
    },
  }
}

describe.each(availableBackends())('on %s', (backend) => {
  test('a reader that stands still is dropped with a reason, and misses nothing when it comes back', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const wharf = await startHttp(backend)
    const quick = await openEvents(`${wharf.address}/api/events?after=0`, admin)
    const held = await openHeld(`${wharf.address}/api/events?after=0`)
    const socket = await openSocket(`${wharf.address}/ws?after=0`, admin)
    socket.socket.pause()
    let closed: [number, string] | undefined
    socket.socket.on('close', (code, reason) => {
      closed = [code, String(reason)]
    })
    // More than the system buffers between the two.
    await say(wharf, 3_000, 10_000)
    await until('the quick one has all', () => quick.ids.length === 3_000)
    const metric = async (line: string) =>
      (await (await wharf.ask('GET', '/metrics', { key: ADMIN_TOKEN })).text()).includes(line)
    await until('both were dropped', async () => {
      vi.advanceTimersByTime(15_000)
      return (
        (await metric('wharf_watchers_dropped_total{transport="sse"} 1')) &&
        (await metric('wharf_watchers_dropped_total{transport="websocket"} 1'))
      )
    })
    const text = await held.rest()
    expect(text.trimEnd().split('\n\n').at(-1)).toBe('event: end\ndata: {"reason":"too slow"}')
    socket.socket.resume()
    expect(await until('the socket is closed', () => closed)).toEqual([
      1013,
      'too slow; connect again with after=SEQ',
    ])
    // The quick one is still served.
    await say(wharf)
    await until('the quick one has the last', () => quick.ids.length === 3_001)
    expect(quick.ids.map(Number)).toEqual(upTo(3_001))

    const seen = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(seen.length).toBeLessThan(3_000)
    const back = await openEvents(`${wharf.address}/api/events`, {
      ...admin,
      'last-event-id': String(seen.at(-1) ?? 0),
    })
    await until('the rest has arrived', () => back.ids.at(-1) === '3001')
    expect([...seen, ...back.ids.map(Number)]).toEqual(upTo(3_001))
    expect(back.messages[0]?.prev_seq).toBe(seen.at(-1) ?? 0)
    const last = socket.messages.at(-1)?.seq ?? 0
    expect(last).toBeLessThan(3_000)
    const again = await openSocket(`${wharf.address}/ws?after=${last}`, admin)
    await until('the rest has arrived', () => again.messages.at(-1)?.seq === 3_001)
    expect([...socket.messages, ...again.messages].map(({ seq }) => seq)).toEqual(upTo(3_001))
    await until('the gauge is down', () => metric('wharf_watchers{transport="sse"} 2'))
  })

  test('one that is ahead of the log is told where the log is, and goes on from there', async () => {
    const wharf = await startHttp(backend)
    await say(wharf, 3)
    const stream = await openEvents(`${wharf.address}/api/events?after=500`, admin)
    const socket = await openSocket(`${wharf.address}/ws?after=500`, admin)
    await until('both were told', () => stream.messages.length + socket.messages.length === 2)
    await say(wharf)
    await until('both go on', () => stream.messages.length + socket.messages.length === 4)
    for (const { messages } of [stream, socket])
      expect(messages.map(({ type, seq, prev_seq }) => [type, seq, prev_seq])).toEqual([
        ['resync', 3, 3],
        ['e', 4, 3],
      ])
    expect(stream.ids).toEqual(['3', '4'])
    expect(stream.names).toEqual(['resync'])
  })
})

describe.runIf(scaled)('on PostgreSQL', () => {
  test('two hundred watchers hold no connection of the work, and three of their own at most', async () => {
    const wharf = await startHttp('postgres + redis')
    const url = wharf.backend.env.DATABASE_URL as string
    const readers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 10
          ? openEvents(`${wharf.address}/api/events?after=0`, admin)
          : openSocket(`${wharf.address}/ws?after=0`, admin),
      ),
    )
    const most = new Map<string, number>()
    for (let round = 0; round < 20; round++) {
      await say(wharf, 5)
      const rows = await queryRows<{ name: string; count: number }>(
        url,
        `select application_name as name, count(*)::int as count from pg_stat_activity
         where datname = current_database() and application_name <> '' group by 1`,
      )
      for (const { name, count } of rows) most.set(name, Math.max(count, most.get(name) ?? 0))
    }
    await until('all have all', () => readers.every(({ messages }) => messages.length === 100))
    for (const { messages } of readers) expect(messages.map(({ seq }) => seq)).toEqual(upTo(100))
    expect(most.get('wharf-events')).toBeLessThanOrEqual(3)
    expect(most.get('wharf')).toBeLessThanOrEqual(10)
    expect([...most.keys()].toSorted()).toEqual(['wharf', 'wharf-events'])
  })

  test('an outage in the middle of a stream heals by itself', async ({ skip }) => {
    const postgres = await startPostgres({ fsync: false })
    if (!postgres) return skip('needs the program postgres')
    onTestFinished(() => postgres.remove())
    const backend = await scaledOut({ postgresUrl: postgres.url })
    const wharf = await startHttp('postgres + redis', { backend })
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const readers = [
      await openEvents(`${wharf.address}/api/events?after=0`, admin),
      await openSocket(`${wharf.address}/ws?after=0`, admin),
    ]
    await say(wharf)
    await until('the first has arrived', () => readers.every(({ messages }) => messages.length === 1))
    await postgres.stop()
    wharf.engine.feed.notify()
    const refused = await wharf.ask('GET', '/api/events', { key: ADMIN_TOKEN })
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'LEDGER_UNAVAILABLE' }])
    await postgres.start()
    await until('it can be written again', () =>
      say(wharf).then(
        () => true,
        () => false,
      ),
    )
    await until('the second has arrived', () => readers.every(({ messages }) => messages.length === 2))
    for (const { messages } of readers) expect(messages.map(({ seq }) => seq)).toEqual([1, 2])
    expect(unhandled).toEqual([])
  })
})
