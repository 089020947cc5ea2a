import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { newId } from '../../src/kernel/index.ts'
import { MendHandOffsDuty, SweepFilesDuty, TaskExpiryDuty } from '../../src/processing/duties/index.ts'
import { availableBackends } from '../support/backends.ts'
import { never, setup } from './setup.ts'

const HOUR = 3_600_000

/** A time to come: files cannot be made old, since their change time follows the system's. */
const ahead = (ms: number) => async () => Date.now() + ms

for (const name of availableBackends()) {
  describe(`old ends on ${name}`, () => {
    test('a task past its time goes with its folder', async () => {
      const made = await setup(name, { ttlSeconds: 0 })
      const { rows, store, handOff, log } = made
      const row = { projectId: null, fileName: 'a', size: 1, originalFilePath: '/a' }
      await rows.insert({ id: 'old', ...row })
      mkdirSync(handOff.folderOf('old'))
      expect(await new TaskExpiryDuty({ rows, store, handOff, log }).runOnce(never)).toEqual({ removed: 1 })
      expect(existsSync(handOff.folderOf('old'))).toBe(false)
      expect(await rows.known(['old'])).toEqual(new Set())
    })

    test('a task within its time stays', async () => {
      const made = await setup(name)
      const { rows, store, handOff, log } = made
      const id = await made.create()
      expect(await new TaskExpiryDuty({ rows, store, handOff, log }).runOnce(never)).toEqual({ removed: 0 })
      expect(existsSync(handOff.folderOf(id))).toBe(true)
    })

    test('folders without a record and temp files that nobody claimed are swept, nothing else is', async () => {
      const made = await setup(name)
      const { store, handOff, log } = made
      const kept = await made.create()
      const orphan = newId()
      for (const folder of [orphan, 'not-a-task']) mkdirSync(handOff.folderOf(folder))
      made.tempFile('left behind', 'old.upload')
      mkdirSync(join(handOff.temp, 'deep'))
      writeFileSync(join(handOff.temp, 'deep', 'older'), '')
      const sweep = (ms: number) =>
        new SweepFilesDuty({ store, handOff, now: ahead(ms), log }, { tempTtlMs: 24 * HOUR }).runOnce(never)
      expect(await sweep(0)).toEqual({ mended: 0, temp: 0, folders: 0 })
      expect(await sweep(25 * HOUR)).toMatchObject({ temp: 2, folders: 1 })
      expect(readdirSync(handOff.storage).sort()).toEqual(['.handoff', kept, 'not-a-task'].sort())
    })

    test('a hand-off that a crash broke off is undone by the sweep', async () => {
      const made = await setup(name)
      const { store, handOff, log } = made
      const path = made.tempFile()
      await handOff.take(newId(), path, 'a.mp4')
      const duty = new SweepFilesDuty({ store, handOff, now: ahead(HOUR), log }, { tempTtlMs: 24 * HOUR })
      expect(await duty.runOnce(never)).toMatchObject({ mended: 1 })
      expect(existsSync(path)).toBe(true)
    })

    test('an instance whose clock is wrong by a week touches nothing that is under way', async () => {
      const made = await setup(name)
      const { store, handOff, log } = made
      made.tempFile('waits', 'new.upload')
      const { done } = await handOff.take(newId(), made.tempFile(), 'a.mp4')
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7 * 24 * HOUR })
      onTestFinished(() => void vi.useRealTimers())
      const duty = new SweepFilesDuty({ store, handOff, log }, { tempTtlMs: 24 * HOUR })
      expect(await duty.runOnce(never)).toEqual({ mended: 0, temp: 0, folders: 0 })
      expect(await new MendHandOffsDuty({ store, handOff, log }).runOnce()).toEqual({ mended: 0 })
      await done()
    })
  })
}
