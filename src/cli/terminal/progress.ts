import { SingleBar } from 'cli-progress'
import { type Clock, counted, systemClock } from '../../kernel/index.ts'

interface Step {
  stage: string
  fetched: number
  /** Null while nobody knows. */
  total: number | null
}

/** Shows a person, or a log, how far an export is. */
export interface Progress {
  update(step: Step): void
  /** A line of its own, above the bar where there is one. */
  say(message: string): void
  stop(): void
}

/** A bar on a terminal, plain lines anywhere else. */
export function openProgress(stream: NodeJS.WriteStream, clock: Clock = systemClock): Progress {
  return stream.isTTY ? new ProgressBar(stream) : new ProgressLines(stream, clock)
}

class ProgressBar implements Progress {
  readonly #stream: NodeJS.WriteStream
  readonly #bar: SingleBar
  #running = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    this.#bar = new SingleBar({
      stream,
      format: '{stage} [{bar}] {percentage} % | {value} of {total} rows | {eta_formatted} left',
      hideCursor: true,
      barsize: 30,
      fps: 10,
      etaBuffer: 200,
    })
  }

  update({ stage, fetched, total }: Step): void {
    const payload = { stage: stage.padEnd(8) }
    // Without a total the bar stays empty and the rows count.
    const most = total ?? Math.max(1, fetched * 2)
    if (!this.#running) this.#bar.start(most, fetched, payload)
    this.#running = true
    this.#bar.setTotal(most)
    this.#bar.update(fetched, payload)
  }

  say(message: string): void {
    if (this.#running) this.#stream.write('\r\u001b[2K')
    this.#stream.write(`${message}\n`)
  }

  stop(): void {
    if (this.#running) this.#bar.stop()
    this.#running = false
  }
}

const LINE_EVERY_MS = 2_000

function rowsOf(fetched: number, total: number | null): string {
  if (total === null) return counted(fetched, 'row')
  const percent = total === 0 ? 100 : Math.floor((fetched * 100) / total)
  return `${fetched} of ${counted(total, 'row')}, ${percent} %`
}

class ProgressLines implements Progress {
  readonly #stream: NodeJS.WriteStream
  readonly #clock: Clock
  #stage = ''
  #last = 0

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
  }

  update({ stage, fetched, total }: Step): void {
    const now = this.#clock.now()
    const whole = stage === 'fetching' && fetched === total
    if (stage === this.#stage && !whole && now - this.#last < LINE_EVERY_MS) return
    this.#stage = stage
    this.#last = now
    this.say(stage === 'fetching' ? `fetching: ${rowsOf(fetched, total)}` : `${stage} the file`)
  }

  say(message: string): void {
    this.#stream.write(`${message}\n`)
  }

  stop(): void {}
}
