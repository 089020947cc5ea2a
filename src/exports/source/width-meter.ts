import { spoolWidth, WIDTH_CAP } from './spool-width.ts'

/** The widest value of each slot. */
export class WidthMeter {
  readonly bySlot: Int32Array

  /** One that is off holds the cap from the start, so nothing is ever wider. */
  constructor(slots: number, { off }: { off: boolean }) {
    this.bySlot = new Int32Array(slots).fill(off ? WIDTH_CAP : 0)
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
