import { describe, expect, test } from 'vitest'
import { cellAt, layOut } from '../../console/src/pages/transfers/job/map-layout.ts'

describe('the map of targets', () => {
  test.each([
    [1, 960],
    [300, 960],
    [5_000, 960],
    [5_000, 330],
    [20_000, 330],
  ])('%i targets all have a cell of their own that can be pointed at, %i pixels wide', (count, width) => {
    const layout = layOut(count, width)
    expect(layout.columns * layout.cell).toBeLessThanOrEqual(width)
    expect(layout.cell - layout.gap).toBeGreaterThanOrEqual(4)
    const seen = new Set<number | null>()
    for (let row = 0; row < layout.rows; row++)
      for (let column = 0; column < layout.columns; column++)
        seen.add(cellAt(layout, (column + 0.5) * layout.cell, (row + 0.5) * layout.cell, count))
    seen.delete(null)
    expect(seen.size).toBe(count)
  })

  test('five thousand fit a screen without scrolling', () => {
    expect(layOut(5_000, 960).height).toBeLessThan(400)
  })

  test('beside the cells there is no target', () => {
    const layout = layOut(3, 960)
    expect(cellAt(layout, -1, 0, 3)).toBeNull()
    expect(cellAt(layout, 3.5 * layout.cell, 1, 3)).toBeNull()
    expect(cellAt(layout, 1, layout.height + 1, 3)).toBeNull()
  })
})
