/** Bytes, and a view of the same bytes to go over them by words. */
export class Memory {
  readonly bytes: Buffer
  readonly view: DataView

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  static ofSize(size: number): Memory {
    return new Memory(Buffer.allocUnsafeSlow(size))
  }
}
