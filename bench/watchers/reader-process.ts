// node reader-process.ts ADDRESS KEY: watches events over as many SSE streams and WebSockets as its parent asks for. It works
// on bytes as far as it can, so that the readers take little of the machine that the server runs on.
import { get, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'

export type Order = { open: { sse: number; sockets: number; after: number } } | { close: true }

export interface Report {
  /** From the event to its arrival in ms, of the oldest event in each piece that arrived. */
  lags: number[]
  /** The last `seq` that every one of them has seen; 0 if one of them has seen none. */
  seen: number
  /** Streams that ended by themselves. */
  cut: number
  /** Events that did not follow the one before, among the streams that are read in full. */
  gaps: number
}

/** One in this many streams is parsed, and checked for gaps. */
const CHECKED = 50
const AT = Buffer.from('"at":"')
const AT_LENGTH = 24
const SEQ = Buffer.from('"seq":')

const [address = '', key = ''] = process.argv.slice(2)
const headers = { authorization: `Bearer ${key}` }

class Watchers {
  readonly #ends: (() => void)[] = []
  readonly #seen: number[] = []
  readonly #lags: number[] = []
  #cut = 0
  #gaps = 0
  #closed = false

  async open(sse: number, sockets: number, after: number): Promise<void> {
    // A few at a time, as browsers would come.
    for (let from = 0; from < sse; from += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, sse - from) }, (_, index) => this.#stream(from + index, after)),
      )
    for (let from = 0; from < sockets; from += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, sockets - from) }, (_, index) =>
          this.#socket(sse + from + index, after),
        ),
      )
  }

  report(): Report {
    return { lags: this.#lags, seen: Math.min(...this.#seen), cut: this.#cut, gaps: this.#gaps }
  }

  close(): void {
    this.#closed = true
    for (const end of this.#ends) end()
  }

  async #stream(index: number, after: number): Promise<void> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${address}/api/events?after=${after}`, { headers, agent: false }, resolve).on('error', reject)
    })
    if (answer.statusCode !== 200) throw new Error(`/api/events answered ${answer.statusCode}`)
    this.#ends.push(() => answer.destroy())
    this.#seen[index] = 0
    const check = index % CHECKED === 0 ? this.#checker(after) : undefined
    let rest = ''
    answer.on('data', (chunk: Buffer) => {
      this.#note(index, chunk)
      if (!check) return
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data:')) check(line.slice(5))
    })
    answer.on('close', () => this.#ended()).on('error', () => undefined)
  }

  async #socket(index: number, after: number): Promise<void> {
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/ws?after=${after}`, { headers })
    this.#ends.push(() => socket.terminate())
    this.#seen[index] = 0
    const check = index % CHECKED === 0 ? this.#checker(after) : undefined
    socket.on('message', (message: Buffer) => {
      this.#note(index, message)
      check?.(message.toString())
    })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.on('close', () => this.#ended()).on('error', () => undefined)
  }

  #note(index: number, bytes: Buffer): void {
    const at = bytes.indexOf(AT)
    if (at >= 0) {
      const sent = Date.parse(bytes.toString('latin1', at + AT.length, at + AT.length + AT_LENGTH))
      if (!Number.isNaN(sent)) this.#lags.push(Date.now() - sent)
    }
    const last = bytes.lastIndexOf(SEQ)
    if (last >= 0) {
      const seq = Number.parseInt(bytes.toString('latin1', last + SEQ.length, last + SEQ.length + 12), 10)
      if (seq > (this.#seen[index] ?? 0)) this.#seen[index] = seq
    }
  }

  #checker(after: number) {
    let previous = after
    return (text: string) => {
      const { seq, prev_seq } = JSON.parse(text) as { seq: number; prev_seq: number }
      if (prev_seq !== previous) this.#gaps++
      previous = seq
    }
  }

  #ended(): void {
    if (!this.#closed) this.#cut++
  }
}

let watchers: Watchers | undefined
process.on('message', (order: Order | { report: true }) => {
  const answer = (value: unknown) => process.send?.(value)
  const fail = (error: Error) => answer({ error: error.message })
  if ('report' in order) answer(watchers?.report())
  else if ('close' in order) {
    watchers?.close()
    watchers = undefined
    answer({})
  } else {
    watchers = new Watchers()
    const { sse, sockets, after } = order.open
    watchers.open(sse, sockets, after).then(() => answer({}), fail)
  }
})
