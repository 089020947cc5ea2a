/** Works on several items at once. After a failure no more are begun, and all that were begun have ended when it throws. */
export async function eachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  let failed = false
  const worker = async () => {
    for (let next = rest.next(); !next.done && !failed; next = rest.next())
      try {
        await work(next.value)
      } catch (error) {
        failed = true
        throw error
      }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const result of ended) if (result.status === 'rejected') throw result.reason
}
