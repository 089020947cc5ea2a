import { awaitedLater } from '../../kernel/index.ts'
/** Yields what `source` yields, and already asks for the next value while one is being used. */
export async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = ask(source)
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = ask(source)
      yield value
    }
  } finally {
    await next.catch(() => undefined)
    await source.return(undefined)
  }
}

function ask<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T>> {
  return awaitedLater(source.next())
}
