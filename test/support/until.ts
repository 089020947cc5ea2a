const DEADLINE_MS = 120_000

/**
 * Resolves with the first truthy answer of `condition`. The deadline only turns a hang into a message; no promise of
 * the product is measured with it.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined | null | 0 | ''>> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const answer = await condition()
    if (answer) return answer as Exclude<T, false | undefined | null | 0 | ''>
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
