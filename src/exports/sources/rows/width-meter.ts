import { withOneMore } from '../json/index.ts'
import { spoolWidth, WIDTH_CAP } from './spool-width.ts'

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
