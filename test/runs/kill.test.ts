import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { availableBackends, openBackend } from '../support/backends.ts'
import { until } from '../support/until.ts'
import { serveWharf, temporaryFolder } from '../support/wharf-process.ts'
import { ADMIN, asker, feedWithABigOne } from './killed-server.ts'
import { filesIn } from './runs-setup.ts'

const COMMON = { WHARF_ADMIN_TOKEN: ADMIN, WHARF_RATE_LIMIT: '10000/s' }

test('a run whose server is killed goes on by itself, fetches no file twice and resumes the one in flight', async () => {
  const env = { WHARF_DATA_DIR: temporaryFolder(), ...COMMON }
  const { feed, reached, big } = await feedWithABigOne()
  const first = await serveWharf(env)
  const ask = asker(first.address)
  await ask('PUT', '/api/accounts/ann', { url: feed.url })
  const { run_id } = await ask('POST', '/api/runs', { handle: 'ann', kind: 'start' })
  await reached.passed
  const folder = join(env.WHARF_DATA_DIR, 'accounts', 'ann')
  await until('the part has bytes and the ledger knows', async () => {
    const { progress } = await ask('GET', `/api/runs/${run_id}`)
    return progress.bytes >= 100_000 && progress.downloaded >= 20
  })
  first.child.kill('SIGKILL')
  await first.exited
  expect(readdirSync(folder).filter((file) => file.endsWith('.part'))).not.toEqual([])

  const second = await serveWharf(env)
  const askAgain = asker(second.address)
  const run = await until('the run is done', async () => {
    const seen = await askAgain('GET', `/api/runs/${run_id}`)
    return seen.state === 'Done' && seen
  })
  const bytes = feed.files.reduce((sum, { body }) => sum + body.length, 0)
  expect(run).toMatchObject({
    error: null,
    progress: { downloaded: feed.files.length, skipped: 0, failed: 0, bytes },
  })
  expect(filesIn(folder)).toEqual(new Map(feed.files.map(({ id, body }) => [id, body])))
  const ranges = feed.requests.filter(({ path }) => path === `/file/${big.id}`).map(({ range }) => range)
  expect(ranges).toEqual([undefined, 'bytes=100000-'])
  // Only what was in flight at the kill may have been asked for again.
  expect(feed.files.filter(({ id }) => feed.attempts(id) > 1).length).toBeLessThanOrEqual(8)
  const { accounts, queue } = await askAgain('GET', '/api/state')
  expect(queue).toEqual([])
  expect(accounts).toMatchObject([{ handle: 'ann', state: 'Done', locked: false, run_id }])
})

test('a run that is cancelled while its server is down is cleaned up by the next one', async () => {
  const env = { WHARF_DATA_DIR: temporaryFolder(), ...COMMON, WHARF_RUN_CONNECTIONS: '1' }
  const { feed, reached } = await feedWithABigOne()
  const first = await serveWharf(env)
  const ask = asker(first.address)
  await ask('PUT', '/api/accounts/ann', { url: feed.url })
  const { run_id } = await ask('POST', '/api/runs', { handle: 'ann', kind: 'start' })
  await reached.passed
  // The kill may come before, in the middle of or after the cancel: the end must be the same.
  const cancelled = ask('POST', `/api/runs/${run_id}/cancel`, { files: 'delete' })
  await cancelled
  first.child.kill('SIGKILL')
  await first.exited
  const second = await serveWharf(env)
  const askAgain = asker(second.address)
  await until(
    'the run is cancelled',
    async () => (await askAgain('GET', `/api/runs/${run_id}`)).state === 'Cancelled',
  )
  const folder = join(env.WHARF_DATA_DIR, 'accounts', 'ann')
  await until('the folder is empty', () => !existsSync(folder) || readdirSync(folder).length === 0)
  expect((await askAgain('GET', '/api/state')).accounts).toMatchObject([
    { state: 'Cancelled', locked: false },
  ])
})

test.runIf(availableBackends().includes('postgres + redis'))(
  'a run whose instance is killed goes on with another instance',
  async () => {
    const backend = await openBackend('postgres + redis')
    const env = { ...backend.env, ...COMMON, WHARF_LEASE_SECONDS: '6' }
    const { feed, reached } = await feedWithABigOne()
    const one = await serveWharf(env)
    const ask = asker(one.address)
    await ask('PUT', '/api/accounts/ann', { url: feed.url })
    const { run_id } = await ask('POST', '/api/runs', { handle: 'ann', kind: 'start' })
    await reached.passed
    const two = await serveWharf({ ...env, WHARF_DATA_DIR: temporaryFolder() })
    one.child.kill('SIGKILL')
    await one.exited
    const askTwo = asker(two.address)
    const run = await until('the run is done', async () => {
      const seen = await askTwo('GET', `/api/runs/${run_id}`)
      return seen.state === 'Done' && seen
    })
    expect(run.progress).toMatchObject({ downloaded: feed.files.length, skipped: 0, failed: 0 })
    const folder = join(backend.env.WHARF_DATA_DIR as string, 'accounts', 'ann')
    expect(filesIn(folder)).toEqual(new Map(feed.files.map(({ id, body }) => [id, body])))
    two.child.kill('SIGKILL')
    await two.exited
    await backend.remove()
  },
)
