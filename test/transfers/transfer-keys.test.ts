import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  fullPathOf,
  repositoryPath,
  targetDirectory,
} from '../../src/transfers/repository/repository-path.ts'
import {
  jobKey,
  parseJobKey,
  parseTaskKey,
  targetsKeyOf,
  taskPrefix,
} from '../../src/transfers/transfer-keys.ts'
import { windowAt } from '../../src/transfers/windows/collect-window.ts'

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'

test('keys look as other programs know them', () => {
  const file = { bizId: 1, appId: 1, fullPath: '/test/path/file.txt' }
  const { bucket, endsAt } = windowAt(1_735_660_800_000, 15)
  expect(bucket).toBe(115_710_720)
  expect(endsAt).toBe(1_735_660_815_000)
  const job = jobKey(file, bucket)
  expect(job).toBe('AsyncDownloadJob:1:1:/test/path/file.txt:115710720')
  expect(targetsKeyOf(job)).toBe('AsyncDownloadJob:Targets:1:1:/test/path/file.txt:115710720')
  expect(taskPrefix(file) + UUID).toBe(`AsyncDownloadTask:1:1:/test/path/file.txt:${UUID}`)
  expect(jobKey(file, bucket, 'abcdef0123456789')).toBe(`${job}#abcdef01`)
})

test('a window begins with its first millisecond and ends before its last', () => {
  expect(windowAt(14_999, 15).bucket).toBe(0)
  expect(windowAt(15_000, 15).bucket).toBe(1)
})

test('whatever the path holds, keys are read back as they were made', () => {
  const path = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.constantFrom('/a:1:2', '/数据: 第 1 批/表.xlsx', '/Targets:1:2:x:3', '/x:99#deadbeef', ':'),
  )
  const uint = fc.nat({ max: 4_294_967_295 })
  fc.assert(
    fc.property(uint, uint, path, fc.nat(), fc.boolean(), (bizId, appId, fullPath, bucket, second) => {
      const file = { bizId, appId, fullPath }
      const signature = second ? 'deadbeef' : undefined
      const key = jobKey(file, bucket, signature)
      expect(parseJobKey(key)).toEqual({ ...file, bucket, signature })
      expect(parseJobKey(targetsKeyOf(key))).toEqual({ ...file, bucket, signature })
      expect(parseTaskKey(taskPrefix(file) + UUID)).toEqual({ ...file, uuid: UUID })
    }),
  )
})

test.each([
  '',
  'AsyncDownloadJob:1:2',
  'AsyncDownloadTask:1:2:/x:not-a-uuid',
  'task:1',
  `AsyncDownloadTask:a:2:/x:${UUID}`,
])('what is no key is not read as one: %s', (text) => {
  expect(parseJobKey(text)).toBeUndefined()
  expect(parseTaskKey(text)).toBeUndefined()
})

test.each([
  ['/release/v1', 'app.bin', '/release/v1/app.bin'],
  ['/release/v1/', 'app.bin', '/release/v1/app.bin'],
  ['release', 'app.bin', 'release/app.bin'],
  ['/', 'app.bin', '/app.bin'],
  ['', 'app.bin', 'app.bin'],
])('%s and %s are one path', (directory, name, path) => {
  expect(fullPathOf(directory, name)).toBe(path)
  expect(repositoryPath(path)).toBe(path.replace(/^\//, ''))
})

test.each([
  '',
  '/',
  '..',
  'a/../b',
  '/a/./b',
  'a//b',
  'a\\b',
  'a\u0000b',
  'a\nb',
  '\ud800',
  'x'.repeat(256),
  'ab/'.repeat(2000),
])('a path that leads elsewhere or is none is refused', (path) => {
  expect(() => repositoryPath(path)).toThrow(expect.objectContaining({ code: 'REPOSITORY_PATH_INVALID' }))
})

test.each(['', '/opt/../etc', '..', 'C:\\x\\..\\y', '/a\u0000'])(
  'a directory on a target may not be %j',
  (path) => {
    expect(() => targetDirectory(path)).toThrow(expect.objectContaining({ code: 'REPOSITORY_PATH_INVALID' }))
  },
)
