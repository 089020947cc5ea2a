import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processingOptions } from '../../src/app/domains/processing.ts'
import { loadConfig } from '../../src/config.ts'
import { ResultFiles } from '../../src/processing/files/result-files.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('a result that is not here says that it may be on another instance, where that is so', async () => {
  const among = processingOptions(loadConfig({}), { sole: false, scanner: null }).elsewhere
  const folder = temporaryFolder()
  const missing = (files: ResultFiles) => files.open('t', join(folder, 'no-such-file'))
  await expect(missing(new ResultFiles(folder, among))).rejects.toMatchObject({
    code: 'TASK_WITHOUT_RESULT',
    message: expect.stringMatching(/is gone, or on another instance: .*WHARF_SHARED_DIR/),
  })
  expect(processingOptions(loadConfig({}), { sole: true, scanner: null }).elsewhere).toBe('')
  expect(
    processingOptions(loadConfig({ WHARF_SHARED_DIR: folder }), { sole: false, scanner: null }).elsewhere,
  ).toBe('')
})
