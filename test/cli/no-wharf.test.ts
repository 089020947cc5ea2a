import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { createDatabase } from '../support/databases.ts'
import { smallDisk } from '../support/small-disk.ts'
import { runWharf, serveWharf, temporaryFolder } from '../support/wharf-process.ts'

async function run(args: string[], env: Record<string, string>) {
  const { exited, output } = runWharf(args, env)
  return { ...(await exited), ...output }
}

describe.each(availableBackends())('where no Wharf is, on %s', (name) => {
  test('backup and doctor --files say so', async () => {
    const database = name === 'embedded' ? undefined : await createDatabase()
    onTestFinished(() => database?.drop())
    const env = {
      WHARF_DATA_DIR: temporaryFolder(),
      ...(database && { DATABASE_URL: database.url }),
    }
    const folder = join(temporaryFolder(), 'backup')
    const backup = await run(['backup', folder], env)
    expect(backup.err).toMatch(/^wharf: there is no Wharf in .+; set WHARF_DATA_DIR or DATABASE_URL .*\n$/)
    expect(backup.code).toBe(1)
    expect(existsSync(folder)).toBe(false)

    const doctor = await run(['doctor', '--files', '--json'], env)
    expect(doctor.err).toBe('')
    expect(doctor.code).toBe(1)
    expect(JSON.parse(doctor.out).findings).toContainEqual(
      expect.objectContaining({ level: 'fail', message: expect.stringMatching(/^there is no Wharf in /) }),
    )
  })
})

test('a data dir on a read-only file system is backed up if it was closed cleanly, else it says what to do', async ({
  skip,
}) => {
  const WHARF_DATA_DIR = smallDisk(64)
  if (WHARF_DATA_DIR === undefined) return skip('mounting is not permitted here')
  const mount = (mode: 'ro' | 'rw') =>
    execFileSync('mount', ['-o', `remount,${mode}`, join(WHARF_DATA_DIR, '..')])
  const server = await serveWharf({ WHARF_DATA_DIR })
  server.child.kill('SIGTERM')
  await server.exited
  const folder = temporaryFolder()

  mount('ro')
  const clean = await run(['backup', join(folder, 'clean')], { WHARF_DATA_DIR })
  expect(clean).toMatchObject({ code: 0, err: expect.not.stringContaining('unable') })
  expect(existsSync(join(folder, 'clean', 'manifest.json'))).toBe(true)

  mount('rw')
  writeFileSync(join(WHARF_DATA_DIR, 'ledger.db-wal'), 'what a killed server leaves')
  mount('ro')
  const torn = await run(['backup', join(folder, 'torn')], { WHARF_DATA_DIR })
  expect(torn.code).toBe(1)
  expect(torn.err).toContain(`the file system of ${WHARF_DATA_DIR} is read-only`)
  expect(torn.err).toMatch(/^wharf: .*copy the folder to a place that can be written.*WHARF_DATA_DIR.*\n$/)
  expect(existsSync(join(folder, 'torn'))).toBe(false)
})
