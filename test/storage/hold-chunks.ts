// node --expose-gc hold-chunks.ts: pieces pass through `Hashed` under a signal that lives on. Prints how many passed, and
// the most that were alive at once after a collection.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hashed } from '../../src/storage/hashed.ts'

const PIECES = 200
const made: WeakRef<Uint8Array>[] = []

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < PIECES; index++) {
    // A WeakRef holds its target until the turn ends, so each piece gets a turn of its own.
    await nextTurn()
    const piece = new Uint8Array(64 * 1024).fill(index)
    made.push(new WeakRef(piece))
    yield piece
  }
}

const stop = new AbortController()
let [passed, most] = [0, 0]
for await (const _ of new Hashed(pieces(), stop.signal)) {
  passed++
  if (passed % 20 > 0) continue
  await nextTurn()
  globalThis.gc?.()
  await nextTurn()
  most = Math.max(most, made.filter((one) => one.deref() !== undefined).length)
}
console.log(JSON.stringify({ passed, most, aborted: stop.signal.aborted }))
