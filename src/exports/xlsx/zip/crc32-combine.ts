/**
 * CRC-32 of two byte strings laid end to end, from the CRC of each and the length of the second: blocks are summed by
 * the threads that made them, and nobody has to read the joined bytes again.
 *
 * Appending a zero byte to a message is a linear map over GF(2)^32. Appending `length` of them is that map to the power
 * of `length`, reached by squaring.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  if (secondLength === 0) return first >>> 0
  let crc = first
  let power = zeroByteMap()
  for (let left = secondLength; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) crc = apply(power, crc)
    power = square(power)
  }
  return (crc ^ second) >>> 0
}

type BitMatrix = Uint32Array

function zeroByteMap(): BitMatrix {
  const bit = new Uint32Array(32)
  bit[0] = 0xedb88320
  for (let n = 1; n < 32; n += 1) bit[n] = 1 << (n - 1)
  return square(square(square(bit)))
}

function apply(matrix: BitMatrix, vector: number): number {
  let sum = 0
  for (let rest = vector >>> 0, n = 0; rest !== 0; rest >>>= 1, n += 1) {
    if (rest & 1) sum ^= matrix[n]!
  }
  return sum
}

function square(matrix: BitMatrix): BitMatrix {
  return matrix.map((column) => apply(matrix, column))
}
