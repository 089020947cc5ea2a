import { SingleBar } from 'cli-progress'
import { type Clock, systemClock } from '../kernel/index.ts'

export interface Step {
  stage: string
  fetched: number
  total: number
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
    if (!this.#running) this.#bar.start(total, fetched, payload)
    this.#running = true
    this.#bar.setTotal(total)
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
    const percent = total === 0 ? 100 : Math.floor((fetched * 100) / total)
    this.say(
      stage === 'fetching' ? `fetching: ${fetched} of ${total} rows, ${percent} %` : `${stage} the file`,
    )
  }

  say(message: string): void {
    this.#stream.write(`${message}\n`)
  }

  stop(): void {}
}
