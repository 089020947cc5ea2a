import { afterAll, expect } from 'vitest'
import { unforeseenErrors } from '../../src/kernel/index.ts'

let forgiven = 0

/** For tests that make such errors on purpose. */
export function forgive(errors: number): void {
  forgiven += errors
}

// For every file of tests: a fault that was only counted is a fault all the same.
afterAll(() => expect(unforeseenErrors() - forgiven, 'errors that nobody foresaw').toBe(0))
