import { flushCompileCache } from 'node:module'
import { afterAll } from 'vitest'
import './no-unforeseen.ts'

// Vitest ends the process of a file with a signal, upon which Node would keep nothing of what it has compiled.
afterAll(() => flushCompileCache())
