import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RequestFolderSweeper } from '../../src/exports/pipeline/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('what a killed process left of requests that it was answering goes after a day', async () => {
  const root = join(temporaryFolder(), 'sync')
  const sweeper = new RequestFolderSweeper({ clock: systemClock }, { root })
  expect(await sweeper.runOnce()).toEqual({ swept: 0 })
  const [left, atWork] = ['left', 'at-work'].map((name) => {
    mkdirSync(join(root, name), { recursive: true })
    writeFileSync(join(root, name, 'rows'), 'rows')
    return join(root, name)
  }) as [string, string]
  const twoDaysAgo = Date.now() / 1_000 - 2 * 24 * 3_600
  utimesSync(left, twoDaysAgo, twoDaysAgo)
  expect(await sweeper.runOnce()).toEqual({ swept: 1 })
  expect([existsSync(left), existsSync(atWork)]).toEqual([false, true])
})
