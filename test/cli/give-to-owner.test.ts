import { chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { giveToOwner } from '../../src/app/backup/give-to-owner.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

const [NOBODY, OTHER] = [65_534, 4_321]

test.runIf(process.getuid?.() === 0)("what root made in another user's folder becomes that user's", () => {
  const folder = temporaryFolder()
  const outside = join(temporaryFolder(), 'outside')
  mkdirSync(join(folder, 'files'))
  for (const path of [join(folder, 'ledger.db'), join(folder, 'files', 'one'), join(folder, 'kept'), outside])
    writeFileSync(path, 'x')
  symlinkSync(outside, join(folder, 'link'))
  chownSync(join(folder, 'kept'), OTHER, OTHER)
  const owners = () =>
    ['', 'ledger.db', 'files', 'files/one', 'link'].map((name) => lstatSync(join(folder, name)).uid)
  giveToOwner(folder)
  expect(owners()).toEqual([0, 0, 0, 0, 0])
  chownSync(folder, NOBODY, NOBODY)
  giveToOwner(folder)
  expect(owners()).toEqual([NOBODY, NOBODY, NOBODY, NOBODY, NOBODY])
  expect(lstatSync(join(folder, 'kept')).uid).toBe(OTHER)
  expect(lstatSync(outside).uid).toBe(0)
})
