import fc from 'fast-check'
import { expect } from 'vitest'
import { ERRORS, systemClock, within } from '../../src/kernel/index.ts'
import { unforeseenErrors } from '../../src/kernel/unforeseen.ts'
import { LIMIT_MS } from '../support/until.ts'

/** Settings of `npm run fuzz`; without them each part goes on for a few seconds, always from the same seed. */
const minutes = Number(process.env.FUZZ_MINUTES ?? 0)
export const seed = Number(process.env.FUZZ_SEED ?? (minutes > 0 ? Date.now() % 1_000_000 : 1))
const PARTS = 8
const partMs = minutes > 0 ? (minutes * 60_000) / PARTS : 3_000
/** For the parts of a longer run. */
export const limitMs = 4 * LIMIT_MS + 2 * partMs

/** Tries as many examples as there is time for. A failure says the seed and the path that bring it back. */
export async function fuzz<T>(arbitrary: fc.Arbitrary<T>, check: (example: T) => unknown): Promise<void> {
  let tried = 0
  const before = unforeseenErrors()
  const property = fc.asyncProperty(arbitrary, async (example) => {
    tried += 1
    await check(example)
    expect(unforeseenErrors() - before, 'errors that nobody foresaw').toBe(0)
  })
  await fc.assert(property, {
    seed,
    numRuns: 10_000_000,
    interruptAfterTimeLimit: partMs,
    markInterruptAsFailure: false,
  })
  if (minutes > 0) console.log(`${expect.getState().currentTestName}: ${tried} examples`)
}

/** Asks, and fails if there is no answer. The body of an endless one is left unread. */
export async function answerOf(url: string, init: RequestInit): Promise<{ answer: Response; text: string }> {
  return within(systemClock, LIMIT_MS, async (signal) => {
    const answer = await fetch(url, { ...init, signal, redirect: 'manual' })
    const isEndless = answer.headers.get('content-type')?.startsWith('text/event-stream')
    if (!isEndless) return { answer, text: await answer.text() }
    await answer.body?.cancel()
    return { answer, text: '' }
  })
}

/** What is wrong in the other system, or is not part of this one. */
const FORESEEN = new Set([501, 502, 503, 504, 507])

/** Never an error of Wharf itself, and every problem is told as one. */
export function expectForeseen(answer: Response, text: string, what: string): void {
  if (answer.status < 400) return
  expect(answer.headers.get('content-type'), what).toMatch(/^application\/problem\+json/)
  expect(answer.status < 500 || FORESEEN.has(answer.status), `${what}: ${answer.status} ${text}`).toBe(true)
  if (text === '') return
  const { code, status } = JSON.parse(text) as { code: keyof typeof ERRORS; status: number }
  expect(Object.keys(ERRORS), what).toContain(code)
  expect(status, what).toBe(answer.status)
}
