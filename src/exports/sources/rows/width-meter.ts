import { isWide } from '../../sheet/index.ts'
import { withOneMore } from '../json/index.ts'

/** The widest value of each slot. */
export class WidthMeter {
  bySlot: Int32Array

  constructor(slots: number) {
    this.bySlot = new Int32Array(slots)
  }

  /** A new slot, with that number. */
  add(slot: number): void {
    this.bySlot = withOneMore(this.bySlot, slot, 0)
  }

  widen(slot: number, width: number): void {
    if (width > this.bySlot[slot]!) this.bySlot[slot] = Math.min(WIDTH_CAP, width)
  }

  /** The text of a spooled string, between its quotes. */
  text(slot: number, bytes: Uint8Array, at: number, end: number): void {
    const width = this.bySlot[slot]!
    // A character never takes more columns than bytes, so most values need no measuring.
    if (end - at > width && width < WIDTH_CAP) this.widen(slot, spoolWidth(bytes, at, end))
  }
}

/** No column is fitted wider than this, so nothing beyond it is measured. */
const WIDTH_CAP = 60

/**
 * Characters that a spool string takes on screen: East Asian wide ones count twice, of several lines the longest rules.
 * `at` and `end` are the bytes between the outer quotes, in which a quote is doubled.
 */
function spoolWidth(bytes: Uint8Array, at: number, end: number): number {
  let widest = 0
  let width = 0
  let p = at
  while (p < end && width < WIDTH_CAP) {
    const byte = bytes[p]!
    if (byte < 0x80) {
      p += byte === 0x22 ? 2 : 1
      if (byte === 0x0a) {
        if (width > widest) widest = width
        width = 0
      } else if (byte >= 0x20) width++
    } else if (byte < 0xe0) {
      p += 2
      width++
    } else if (byte < 0xf0) {
      width += isWide(((byte & 0x0f) << 12) | ((bytes[p + 1]! & 0x3f) << 6) | (bytes[p + 2]! & 0x3f)) ? 2 : 1
      p += 3
    } else {
      width += 2
      p += 4
    }
  }
  return Math.min(WIDTH_CAP, Math.max(widest, width))
}
