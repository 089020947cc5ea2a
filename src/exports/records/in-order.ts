import { awaitedLater } from '../../kernel/index.ts'
/**
 * The results of `work` on each item, in the items' order, with at most `ahead` under way: several threads are kept busy while
 * memory holds a few results.
 */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  ahead: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const under: Promise<Result>[] = []
  let next = 0
  try {
    while (next < items.length || under.length > 0) {
      while (under.length < ahead && next < items.length) {
        under.push(awaitedLater(work(items[next++]!)))
      }
      yield await under.shift()!
    }
  } finally {
    await Promise.allSettled(under)
  }
}
