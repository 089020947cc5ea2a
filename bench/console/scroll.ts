import type { Page } from 'playwright-core'

/** As `window-table.tsx` draws them. */
export const ROW_PX = 34

export interface Scrolled {
  px: number
  ms: number
  /** As often as the browser asked for the next one. */
  frames: number
  longestMs: number
  /** Frames that stood still, because the rows that come next were not there yet. */
  waited: number
  /** Frames in which a part of what was in view had no row. */
  bare: number
}

interface Turn {
  pxPerSecond: number
  /** It ends there, or after so long. */
  toPx: number
  ms: number
}

/** Scrolls an area down from where it is, frame by frame, as a hand that stays on the wheel does. */
export function scrollOn(page: Page, selector: string, { pxPerSecond, toPx, ms }: Turn): Promise<Scrolled> {
  return page.evaluate<Scrolled>(
    `(${inPage})(${JSON.stringify(selector)}, { pxPerSecond: ${pxPerSecond}, toPx: ${toPx}, ms: ${ms} })`,
  )
}

const inPage = `async (selector, { pxPerSecond, toPx, ms }) => {
  const area = document.querySelector(selector)
  const height = area.clientHeight
  const done = { px: 0, ms: 0, frames: 0, longestMs: 0, waited: 0, bare: 0 }
  // By what is written in the rows: asking the browser where they are would cost a frame of its own.
  const gap = (row) => (row?.className === 'window-table-gap' ? Number.parseFloat(row.style.height) : 0)
  const isBare = (top) => {
    const rows = area.querySelector('tbody')
    if (!rows) return false
    const above = gap(rows.firstElementChild)
    const drawn = rows.childElementCount - (above > 0) - (gap(rows.lastElementChild) > 0)
    return above > top || above + (drawn + 1) * ${ROW_PX} < top + height
  }
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const start = await frame()
  let last = start
  let still = 0
  for (let top = area.scrollTop; top < toPx && done.ms < ms; ) {
    const now = await frame()
    if (isBare(top)) done.bare++
    const step = ((now - last) * pxPerSecond) / 1000
    area.scrollTop = Math.min(top + step, toPx)
    const moved = area.scrollTop - top
    top += moved
    still = moved === 0 ? still + 1 : 0
    if (still === 1200) throw new Error('the list ends at ' + top + ' of ' + toPx + ' px')
    if (moved < step / 2) done.waited++
    done.frames++
    done.longestMs = Math.max(done.longestMs, now - last)
    done.px += moved
    done.ms = now - start
    last = now
  }
  return done
}`
