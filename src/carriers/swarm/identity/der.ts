/** The few pieces of DER (ITU-T X.690) that a certificate is made of. */

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes])
  const digits: number[] = []
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return Buffer.from([0x80 | digits.length, ...digits])
}

export function tagged(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag]), length(body.length), body])
}

export const sequence = (...content: Buffer[]) => tagged(0x30, ...content)
export const set = (...content: Buffer[]) => tagged(0x31, ...content)
export const octets = (content: Buffer) => tagged(0x04, content)
export const utf8 = (text: string) => tagged(0x0c, Buffer.from(text, 'utf8'))
export const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0]))

/** Only whole bytes: signatures, and flags whose unused bits are zero. */
export const bits = (content: Buffer, unused = 0) => tagged(0x03, Buffer.from([unused]), content)

/** A number that is not negative, from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const shortest = bytes.subarray(start)
  const negative = ((shortest[0] ?? 0) & 0x80) !== 0
  return tagged(0x02, negative ? Buffer.concat([Buffer.from([0]), shortest]) : shortest)
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const digits = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f))
    bytes.push(...digits)
  }
  return tagged(0x06, Buffer.from(bytes))
}

/** Two-digit years up to 2049 and four digits from 2050 on, as RFC 5280 wants it. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tagged(0x18, Buffer.from(`${digits}Z`))
}
