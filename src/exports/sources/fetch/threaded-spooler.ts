import { awaitedLater, bestEffort } from '../../../kernel/index.ts'
import { type PinnedThread, type ThreadPool, taskFunction } from '../../threads/index.ts'
import type { ExpectedPage, PageBody } from '../pages/index.ts'
import type { Flushed, PageSink, RangeSpoolerOptions, RangeState, Taken } from './range-spooler.ts'
import type { OpenTask, TakeTask } from './range-work.ts'

const WORK = [import.meta.url, 'range-work'] as const
const OPEN = taskFunction<OpenTask, void>(...WORK, 'open')
const TAKE = taskFunction<TakeTask, { taken: Taken; memory: ArrayBuffer }>(...WORK, 'take')
const FLUSH = taskFunction<number, Flushed>(...WORK, 'flush')
const CLOSE = taskFunction<number, void>(...WORK, 'close')

let lastRange = 0

/** A range spooler that lives in another thread. Pages go there and come back with their memory, nothing is copied. */
export class ThreadedSpooler implements PageSink {
  readonly #thread: PinnedThread
  readonly #range = ++lastRange
  /** A thread does its tasks in order; whatever hinders the opening shows with the first page. */
  readonly #opened: Promise<void>

  /** A thread takes its time to start: one that will be needed soon is started before. */
  static warmUp(threads: ThreadPool): void {
    threads.warmUp(OPEN, { threads: 1 })
  }

  constructor({ threads }: { threads: ThreadPool }, options: RangeSpoolerOptions, start: RangeState) {
    this.#thread = threads.pin()
    this.#opened = awaitedLater(
      this.#thread.run(OPEN, { range: this.#range, options, start: pickState(start) }),
    )
  }

  async take(body: PageBody, expected: ExpectedPage): Promise<Taken> {
    await this.#opened
    const memory = body.bytes.buffer as ArrayBuffer
    const task = { range: this.#range, memory, length: body.length, expected }
    // Should the page be refused, its memory stays there, and the body takes new memory for the next one.
    body.bytes = Buffer.alloc(0)
    const answer = await this.#thread.run(TAKE, task, [memory])
    body.bytes = Buffer.from(answer.memory)
    return answer.taken
  }

  async flush(): Promise<Flushed> {
    await this.#opened
    return await this.#thread.run(FLUSH, this.#range)
  }

  close(): void {
    // A thread that is gone has nothing to let go of.
    bestEffort(this.#thread.run(CLOSE, this.#range))
    this.#thread.release()
  }
}

/** Without the rest of a range's meta, which would be copied for nothing. */
function pickState(state: RangeState): RangeState {
  const { segments, widths, digits, nulls, misfits, escaped, replaced, added, unwanted, pages, keys } = state
  return { segments, widths, digits, nulls, misfits, escaped, replaced, added, unwanted, pages, keys }
}
