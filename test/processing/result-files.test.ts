import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ResultFiles } from '../../src/processing/files/result-files.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('[foreign-result] a record that names a file of another task, or outside of the storage, gives nothing', async () => {
  const storage = await temporaryFolder()
  for (const task of ['task-a', 'task-b', 'task-b2']) {
    await mkdir(join(storage, task, 'parts'), { recursive: true })
    await writeFile(join(storage, task, 'result.mp4'), task)
    await writeFile(join(storage, task, 'parts', 'one.mp4'), task)
  }
  await writeFile(join(storage, 'loose.mp4'), 'nobody')
  await symlink(join(storage, 'task-a', 'result.mp4'), join(storage, 'task-b', 'link.mp4'))
  const results = new ResultFiles(storage)
  const open = async (path: string) => {
    const { handle } = await results.open('task-b', path)
    const text = await handle.readFile('utf8')
    await handle.close()
    return text
  }
  expect(await open(join(storage, 'task-b', 'result.mp4'))).toBe('task-b')
  expect(await open(join(storage, 'task-b', 'parts', 'one.mp4'))).toBe('task-b')
  for (const path of [
    join(storage, 'task-a', 'result.mp4'),
    join(storage, 'task-b2', 'result.mp4'),
    join(storage, 'loose.mp4'),
    join(storage, 'task-b', 'link.mp4'),
    `${storage}/task-b/../task-a/result.mp4`,
    join(storage, 'task-b'),
    '/etc/hostname',
  ])
    await expect(open(path), path).rejects.toMatchObject({
      code: 'TASK_WITHOUT_RESULT',
      message: expect.stringContaining('no plain file in the folder of the task'),
    })
  await expect(open(join(storage, 'task-b', 'swept.mp4'))).rejects.toThrow(
    'the result of task task-b is gone',
  )
})
