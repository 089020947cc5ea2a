import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { bytes, CONTENT, request, runDue, SIGNATURE, setupTransfers } from '../support/transfers.ts'

const { signal } = new AbortController()

describe.each(availableBackends())('files of windows on %s', (name) => {
  test('an instance that did not begin a task has its file all the same', async () => {
    const { instances, projectId, clock, carrier } = await setupTransfers(name, { instances: 2 })
    const [began, other] = instances
    await began!.transfers.putFile(projectId, 'release/v1/app.bin', bytes(), signal)
    await began!.transfers.request(projectId, request())
    await clock.move(15_000)
    await runDue(began!)
    const [engineTaskId] = carrier.orders.keys()
    const file = await other!.fileOf(engineTaskId!, signal)
    expect(file).toEqual({ path: join(other!.dataDir, 'transfer-cache', SIGNATURE), size: CONTENT.length })
    expect(readFileSync(file!.path)).toEqual(CONTENT)
  })

  test('a task that no window knows has no file', async () => {
    const { first } = await setupTransfers(name)
    expect(await first.fileOf('nobody', signal)).toBeUndefined()
  })
})
