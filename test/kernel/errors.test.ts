import { renameSync } from 'node:fs'
import { constants } from 'node:os'
import { expect, test } from 'vitest'
import { failed } from '../../src/jobs/outcome.ts'
import { AppError, ERRORS, isAppError, messageOf, outageOf, toDiskError } from '../../src/kernel/index.ts'

test('every code is named like its entry, unique, and has statuses that transports know', () => {
  for (const [name, kind] of Object.entries(ERRORS)) {
    expect(kind.code).toBe(name)
    expect(kind.http).toBeGreaterThanOrEqual(400)
    expect(kind.http).toBeLessThan(600)
    expect(kind.grpc).toBeGreaterThan(0)
    expect(kind.grpc).toBeLessThanOrEqual(16)
    expect(kind.title).not.toBe('')
    expect(Object.isFrozen(kind)).toBe(true)
  }
})

test('an error carries its kind, its cause and what a caller may do about it', () => {
  const cause = new Error('below')
  const error = new AppError(ERRORS.LEDGER_UNAVAILABLE, 'try later', {
    cause,
    retryAfter: 2,
    details: { a: 1 },
  })
  expect(error).toMatchObject({
    name: 'AppError',
    code: 'LEDGER_UNAVAILABLE',
    message: 'try later',
    retryAfter: 2,
    retryable: true,
    details: { a: 1 },
  })
  expect(error.cause).toBe(cause)
  expect(error.stack).toContain('errors.test.ts')
  expect(new AppError(ERRORS.FORBIDDEN, 'no', { retryable: false }).retryable).toBe(false)
  expect('cause' in new AppError(ERRORS.FORBIDDEN, 'no')).toBe(false)
})

test('errors are told apart by kind, not by looks', () => {
  const error = new AppError(ERRORS.NOT_FOUND, 'gone')
  expect(isAppError(error)).toBe(true)
  expect(isAppError(error, ERRORS.NOT_FOUND)).toBe(true)
  expect(isAppError(error, ERRORS.FORBIDDEN)).toBe(false)
  expect(isAppError(Object.assign(new Error('x'), { code: 'NOT_FOUND' }))).toBe(false)
  expect(isAppError(undefined)).toBe(false)
})

test('any thrown value has something to read', () => {
  expect([new Error('a'), 'b', 7, null, undefined].map(messageOf)).toEqual([
    'a',
    'b',
    '7',
    'null',
    'undefined',
  ])
})

/** As Node makes them. */
function systemError(code: string, to?: string): Error {
  const [syscall, path] =
    to === undefined ? ['open', "/srv/wharf/spool/it's"] : ['rename', '/srv/wharf/spool/a']
  const paths = `'${path}'${to === undefined ? '' : ` -> '${to}'`}`
  return Object.assign(new Error(`${code}: what it means, ${syscall} ${paths}`), {
    code,
    syscall,
    path,
    errno: -1,
    ...(to !== undefined && { dest: to }),
  })
}

test('whatever the file system says, nobody but the log hears where on this machine a file is', () => {
  try {
    renameSync('/srv/wharf/nothing', '/srv/wharf/else')
    expect.unreachable()
  } catch (error) {
    expect(messageOf(error)).toBe('ENOENT: no such file or directory, rename')
  }
  for (const code of Object.keys(constants.errno))
    for (const error of [systemError(code), systemError(code, '/srv/wharf/spool/b')])
      for (const told of [
        error,
        failed(error),
        outageOf(error),
        toDiskError(error, 'write'),
        new AppError(ERRORS.INTERNAL, messageOf(error)),
      ]) {
        const shown =
          told === error ? messageOf(told) : messageOf((told as { error?: Error } | undefined)?.error ?? told)
        expect(shown, code).not.toContain('/srv')
      }
})

test('a disk that is full, broken or busy is an outage, whatever it was asked for', () => {
  const outages = Object.keys(constants.errno).filter((code) => outageOf(systemError(code)))
  expect(outages.toSorted()).toEqual(
    'EAGAIN EBUSY EDEADLK EDQUOT EINTR EIO EMFILE ENFILE ENODEV ENOLCK ENOMEM ENOSPC ENOTEMPTY ENXIO EROFS ESTALE'
      .split(' ')
      .filter((code) => code in constants.errno),
  )
  expect(outageOf(systemError('ENOENT'))).toBeUndefined()
})
