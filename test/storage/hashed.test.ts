import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('./hold-chunks.ts', import.meta.url))

test('bytes that pass are let go, however long the signal lives', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT])
  const { passed, most } = JSON.parse(stdout) as { passed: number; most: number }
  expect(passed).toBe(200)
  // What is under way: the piece in hand, and the steps of the generators around it.
  expect(most).toBeLessThanOrEqual(5)
})
