import { flushCompileCache } from 'node:module'
import { afterAll, expect, vi } from 'vitest'
import { unforgiven } from './no-unforeseen.ts'

// Byte by byte, as toEqual compares them otherwise, a file of 2 MB costs seconds and a gigabyte of memory.
expect.addEqualityTesters([
  (one, other) =>
    one instanceof Uint8Array && other instanceof Uint8Array && one.constructor === other.constructor
      ? Buffer.compare(one, other) === 0
      : undefined,
])

const environment = { ...process.env }

// Runs anew for every file of tests, unlike the modules that it imports: the files of a worker share a process.
afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  // Vitest ends its workers with a signal, upon which Node would keep nothing of what it has compiled.
  flushCompileCache()
  // A fault that was only counted is a fault all the same.
  expect(unforgiven(), 'errors that nobody foresaw').toBe(0)
})
