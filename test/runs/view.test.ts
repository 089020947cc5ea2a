import { expect, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { type Message, openEvents } from '../support/event-readers.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'
import { ADMIN, asker, feedWithABigOne } from './killed-server.ts'

const COMMON = { WHARF_ADMIN_TOKEN: ADMIN, WHARF_RATE_LIMIT: '10000/s' }
const HEADERS = { authorization: `Bearer ${ADMIN}` }

test('a view goes on after a restart where it was: nothing is missing and nothing comes twice', async () => {
  const env = { WHARF_DATA_DIR: temporaryFolder(), ...COMMON }
  const first = await serveWharf(env)
  const view = await watchARun(first.address)
  first.child.kill('SIGKILL')
  await first.exited

  await expectTheRest((await serveWharf(env)).address, view)
})

test.runIf(availableBackends().includes('postgres + redis'))(
  'a view goes on at another instance where it was',
  async () => {
    const backend = await openBackend('postgres + redis')
    const env = { ...backend.env, ...COMMON, WHARF_LEASE_SECONDS: '6' }
    const one = await serveWharf(env)
    const view = await watchARun(one.address)
    const two = await serveWharf({ ...env, WHARF_DATA_DIR: temporaryFolder() })
    one.child.kill('SIGKILL')
    await one.exited

    await expectTheRest(two.address, view)
    two.child.kill('SIGKILL')
    await two.exited
    await backend.remove()
  },
)

interface WatchedRun {
  runId: string
  /** Of the snapshot after which the stream was read. */
  seq: number
  seen: readonly Message[]
}

/** Starts a run that cannot end yet, and reads its events until it moves. */
async function watchARun(address: string): Promise<WatchedRun> {
  const { feed, reached } = await feedWithABigOne()
  const ask = asker(address)
  await ask('PUT', '/api/accounts/ann', { url: feed.url })
  const { seq } = await ask('GET', '/api/state')
  const events = await openEvents(`${address}/api/events?after=${seq}`, HEADERS)
  const { run_id } = await ask('POST', '/api/runs', { handle: 'ann', kind: 'start' })
  await reached.passed
  await events.until('run_progress', run_id)
  return { runId: run_id, seq, seen: events.messages }
}

/**
 * Takes up the stream with the id of the last message, as a browser does, and holds what both streams brought against the
 * whole log, read anew, and against a snapshot taken at the end.
 */
async function expectTheRest(address: string, { seq, seen, runId }: WatchedRun): Promise<void> {
  const last = String(seen.at(-1)?.seq)
  const after = await openEvents(`${address}/api/events`, { ...HEADERS, 'last-event-id': last })
  const all = () => [...seen, ...after.messages]
  await until('the run is done', () => all().some(isEnd))
  const whole = await openEvents(`${address}/api/events?after=${seq}`, HEADERS)
  await until('the log is read', () => whole.messages.some(isEnd))

  const upToTheEnd = (messages: readonly Message[]) => messages.slice(0, messages.findIndex(isEnd) + 1)
  expect(upToTheEnd(all())).toEqual(upToTheEnd(whole.messages))
  const states = all().filter(({ type }) => type === 'run_state_changed')
  // With nobody running it, it is said to wait again, and then to run again.
  expect(states.map(({ state }) => state)).toEqual(['Queued', 'Running', 'Queued', 'Running', 'Done'])
  const { accounts } = await asker(address)('GET', '/api/state')
  expect(accounts).toMatchObject([{ run_id: runId, state: 'Done', locked: false }])
}

function isEnd({ type, state }: Message): boolean {
  return type === 'run_state_changed' && state === 'Done'
}
