import type { FileHandle } from 'node:fs/promises'
import { openFile } from '../../../kernel/index.ts'
import type { Holding } from '../pieces/index.ts'
import type { Manifest } from '../wire/index.ts'

/** The file on the server's own disk: whole from the start. */
export class SourceFile implements Holding {
  readonly task: string
  readonly manifest: Manifest
  readonly #file: FileHandle

  private constructor(task: string, manifest: Manifest, file: FileHandle) {
    this.task = task
    this.manifest = manifest
    this.#file = file
  }

  static async open(task: string, manifest: Manifest, path: string): Promise<SourceFile> {
    const file = await openFile(path)
    const { size } = await file.stat()
    if (size === manifest.size) return new SourceFile(task, manifest, file)
    await file.close()
    throw new Error(`the file has ${size} bytes, not ${manifest.size}`)
  }

  get have(): number {
    return this.manifest.pieces
  }

  async read(index: number, into: Buffer): Promise<void> {
    const { bytesRead } = await this.#file.read(into, 0, into.length, index * this.manifest.pieceBytes)
    if (bytesRead !== into.length) throw new Error(`piece ${index} cannot be read`)
  }

  /** Proves every piece again; an agent has said that one was bad. */
  async isSound(): Promise<boolean> {
    const buffer = Buffer.allocUnsafe(this.manifest.pieceBytes)
    for (let index = 0; index < this.manifest.pieces; index++) {
      const piece = buffer.subarray(0, this.manifest.lengthOf(index))
      const read = await this.read(index, piece).then(
        () => true,
        () => false,
      )
      if (!read || !this.manifest.matches(index, piece)) return false
    }
    return true
  }

  live(): undefined {
    return undefined
  }

  watch(): () => void {
    return () => undefined
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
