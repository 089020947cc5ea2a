import { StringDecoder } from 'node:string_decoder'

const LONGEST_LINE = 2_000

/** Cuts a stream into lines; a carriage return ends one too, as programs with a progress bar use it. */
export class OutputLines {
  readonly #take: (line: string) => void
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  constructor(take: (line: string) => void) {
    this.#take = take
  }

  write(chunk: Buffer): void {
    const parts = (this.#rest + this.#decoder.write(chunk)).split(/[\r\n]+/)
    this.#rest = (parts.pop() ?? '').slice(-LONGEST_LINE)
    for (const part of parts) if (part.trim() !== '') this.#take(part.slice(0, LONGEST_LINE))
  }

  end(): void {
    if (this.#rest.trim() !== '') this.#take(this.#rest)
    this.#rest = ''
  }
}
