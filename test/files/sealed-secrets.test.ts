import { expect, test } from 'vitest'
import { Sealer } from '../../src/tenancy/index.ts'
import { openBackend } from '../support/backends.ts'
import { newProject, startHttp } from '../support/http.ts'

const SEAL_KEY = 'a-seal-key-for-this-test'

test('[ledger-copy] with WHARF_SEAL_KEY, a copy of the ledger opens no secret', async () => {
  const wharf = await startHttp('embedded', { env: { WHARF_SEAL_KEY: SEAL_KEY } })
  const { secret } = await newProject(wharf)
  const rows = await wharf.ledger.db.selectFrom('settings').selectAll().execute()
  const settings = new Map(rows.map(({ key, value }) => [key, value]))
  expect(settings.has('seal_key')).toBe(false)
  const sealer = new Sealer(SEAL_KEY)
  // Every secret of the installation is there, sealed; what is not sealed is a hash or no secret.
  for (const name of ['ticket_key', 'swarm_authority'])
    expect(sealer.open(settings.get(name) as string), name).not.toBe('')
  const project = await wharf.ledger.db.selectFrom('projects').select('webhook_secret').executeTakeFirst()
  expect(sealer.open(project?.webhook_secret ?? '')).toBe(secret)
})

test('a key that the ledger was not sealed with stops the start; one that is given later opens what was there', async () => {
  const backend = await openBackend('embedded')
  const start = async (WHARF_SEAL_KEY?: string) => {
    const wharf = await startHttp('embedded', { backend, env: { ...(WHARF_SEAL_KEY && { WHARF_SEAL_KEY }) } })
    return wharf
  }
  const first = await start()
  const project = await newProject(first)
  await first.stop()
  const second = await start(SEAL_KEY)
  expect(await second.projects.webhookSecrets(project.id)).toEqual([project.secret])
  await second.stop()
  for (const wrong of [undefined, 'another-seal-key-altogether'])
    await expect(start(wrong)).rejects.toThrow(/^WHARF_SEAL_KEY must be the key/)
  await (await start(SEAL_KEY)).stop()
  await backend.remove()
})
