import type { TLSSocket } from 'node:tls'
import { backoffDelay, type Clock, type Log, messageOf, orAborted } from '../../../kernel/index.ts'
import {
  ackFrame,
  BadPiece,
  connectParent,
  type ParentLine,
  ParentRefused,
  type RateLimit,
  receivePiece,
  requestLine,
} from '../pieces/index.ts'
import { type Credentials, type FromAgent, type PeerId, toTargetFailure } from '../wire/index.ts'
import type { PartFile } from './place/index.ts'

export interface FollowerDeps {
  credentials(): Credentials
  download: RateLimit
  send(message: FromAgent): void
  clock: Clock
  log: Log
}

interface Assignment {
  parent: ParentLine
  ticket: string
  /** Aborts when another parent takes its place. */
  over: AbortController
}

const REFUSALS_LET_PASS = 3
const RETRY = { base: 150, factor: 2, max: 3_000, jitter: 0.3 }
/** Acknowledged at least every N pieces: half of what a parent lets be on its way. */
const ACK_PIECES = 4
/** On a slow line every piece is acknowledged, which is also a sign of life. On a fast one that would cost too much. */
const ACK_MS = 50

/**
 * Takes pieces from whichever parent the server named last, from the first that is missing. A parent that fails is
 * reported at once and tried again until the server names another: while the server is away, that is the best there is.
 */
export class ParentFollower {
  readonly #deps: FollowerDeps
  readonly #task: string
  readonly #signal: AbortSignal
  #assignment: Assignment | undefined
  #assigned: (() => void) | undefined

  constructor(deps: FollowerDeps, { task, signal }: { task: string; signal: AbortSignal }) {
    this.#deps = deps
    this.#task = task
    this.#signal = signal
  }

  get parent(): PeerId | null {
    return this.#assignment?.parent.id ?? null
  }

  follow(parent: ParentLine, ticket: string): void {
    const old = this.#assignment
    this.#assignment = { parent, ticket, over: new AbortController() }
    old?.over.abort(new Error('another parent was named'))
    this.#assigned?.()
  }

  /** Resolves when the file is whole; throws only what ends the task. */
  async fill(part: PartFile): Promise<void> {
    let failures = 0
    while (!part.isWhole) {
      this.#signal.throwIfAborted()
      const assignment = await this.#current()
      const { over, parent } = assignment
      const signal = AbortSignal.any([this.#signal, over.signal])
      const before = part.next
      try {
        await this.#take(part, assignment, signal)
      } catch (error) {
        await writtenBy(part)
        if (over.signal.aborted || this.#signal.aborted) {
          failures = 0
          continue
        }
        failures = part.next > before ? 1 : failures + 1
        this.#complain(parent.id, error, failures)
        await this.#deps.clock.sleep(backoffDelay(failures, RETRY), signal).catch(() => undefined)
      }
    }
  }

  async #take(part: PartFile, { parent, ticket }: Assignment, signal: AbortSignal): Promise<void> {
    const line = await connectParent(this.#deps.credentials(), parent, signal)
    const { socket } = line
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const { pieces } = part.manifest
      const told = new Acknowledgements({ socket, clock: this.#deps.clock }, { have: part.next, pieces })
      socket.write(requestLine({ ticket, from: part.next, blocks: null }))
      while (part.next < pieces) {
        const piece = await part.expectNext()
        await receivePiece(line.input, piece, () => part.grown())
        signal.throwIfAborted()
        await this.#deps.download.take(piece.bytes.length, signal)
        part.keep(piece).then(() => told.arrived(part.have), abort)
      }
      await part.written()
    } finally {
      signal.removeEventListener('abort', abort)
      socket.destroy()
    }
  }

  /** A refusal may only mean that the parent has not heard of the file yet, so the first ones are let pass. */
  #complain(parent: PeerId, error: unknown, failures: number): void {
    if (error instanceof ParentRefused && failures <= REFUSALS_LET_PASS) return
    const reason =
      error instanceof BadPiece ? 'bad_piece' : error instanceof ParentRefused ? 'refused' : 'lost'
    this.#deps.log.info({ parent, reason, task: this.#task }, messageOf(error))
    this.#deps.send({ type: 'orphan', task: this.#task, parent, reason, message: messageOf(error) })
  }

  async #current(): Promise<Assignment> {
    while (!this.#assignment) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#assigned = resolve
      await orAborted(promise, this.#signal)
    }
    return this.#assignment
  }
}

/** A disk that does not take a piece ends the task, whatever became of the line. */
async function writtenBy(part: PartFile): Promise<void> {
  await part.written().catch((error) => {
    throw toTargetFailure(error)
  })
}

/** Reports to a parent how many pieces have arrived. */
class Acknowledgements {
  readonly #socket: TLSSocket
  readonly #clock: Clock
  readonly #pieces: number
  #reported: { have: number; at: number }

  constructor(
    { socket, clock }: { socket: TLSSocket; clock: Clock },
    { have, pieces }: { have: number; pieces: number },
  ) {
    this.#socket = socket
    this.#clock = clock
    this.#pieces = pieces
    this.#reported = { have, at: 0 }
  }

  arrived(have: number): void {
    const now = this.#clock.now()
    const { have: before, at } = this.#reported
    if (have < this.#pieces && have < before + ACK_PIECES && now < at + ACK_MS) return
    this.#reported = { have, at: now }
    this.#socket.write(ackFrame(have))
  }
}
