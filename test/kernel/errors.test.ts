import { expect, test } from 'vitest'
import { AppError, ERRORS, isAppError, messageOf } from '../../src/kernel/index.ts'

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
