import { Transform, type TransformCallback } from 'node:stream'
import * as zlib from 'node:zlib'

/** `deflate` means a zlib stream, but some servers send raw deflate; the first byte tells which. */
export class Inflate extends Transform {
  #inner: zlib.Inflate | zlib.InflateRaw | undefined

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    this.#inner ??= this.#start(chunk)
    if (this.#inner.write(chunk, encoding)) done()
    else this.#inner.once('drain', () => done())
  }

  override _flush(done: TransformCallback): void {
    if (!this.#inner) {
      done()
      return
    }
    this.#inner.once('end', () => done())
    this.#inner.end()
  }

  override _read(size: number): void {
    this.#inner?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner?.destroy()
    done(error)
  }

  #start(chunk: Buffer): zlib.Inflate | zlib.InflateRaw {
    const inner = ((chunk[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()
    inner.on('data', (data: Buffer) => {
      if (!this.push(data)) inner.pause()
    })
    inner.on('error', (error) => this.destroy(error))
    return inner
  }
}
