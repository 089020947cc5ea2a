/** Appends a number to the first `used` ones. The same array while there is space in it. */
export function withOneMore(numbers: Int32Array, used: number, last: number): Int32Array {
  const room = used < numbers.length ? numbers : new Int32Array(Math.max(16, used * 2))
  if (room !== numbers) room.set(numbers)
  room[used] = last
  return room
}

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
