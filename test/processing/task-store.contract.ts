import { describe, expect, test } from 'vitest'
import { tryOf } from '../../src/processing/stores/index.ts'
import type { BackendName } from '../support/backends.ts'
import { type SetupOptions, setup } from './setup.ts'

/** What callers rely on, whatever keeps the tasks. */
export function taskStoreContract(name: BackendName, options: SetupOptions = {}): void {
  const open = () => setup(name, options)
  describe(`task store on ${name}${options.withoutRedis ? ', without Redis' : ''}`, () => {
    test('a new task is PENDING and has all that was said of it', async () => {
      const { store, service, tempFile } = await open()
      const id = await service.create({ tempFilePath: tempFile('four'), originalFilename: '片.mov' })
      expect(await store.details(id)).toMatchObject({
        taskId: id,
        status: 'PENDING',
        resultPath: '',
        errorMessage: '',
        fileName: '片.mov',
        size: 4,
        projectId: null,
        progress: null,
      })
    })

    test('an id makes one task, however often it is used', async () => {
      const { store } = await open()
      const task = {
        id: 'twice',
        projectId: null,
        fileName: 'a',
        size: 1,
        originalFilePath: '/a',
        createdAt: 1e12,
      }
      expect([await store.create(task), await store.create(task)]).toEqual([true, false])
    })

    test('an unknown task does not exist', async () => {
      const { store } = await open()
      expect(await store.get('nope')).toBeUndefined()
      expect(await store.details('nope')).toBeUndefined()
      expect(await store.cancel('nope')).toBe('unknown')
    })

    test('a forgotten task is gone', async () => {
      const { create, store, rows } = await open()
      const id = await create()
      await store.remove(tryOf((await rows.get(id))!))
      expect(await store.get(id)).toBeUndefined()
    })
  })
}
