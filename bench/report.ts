export type Cell = string | number | undefined

/** An aligned table: words to the left, numbers to the right, `–` where nothing was measured. */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [head, ...rows.map((row) => row.map(show))]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const isText = head.map((_, column) => rows.every((row) => typeof row[column] === 'string'))
  const draw = (line: readonly string[]) =>
    line
      .map((text, column) => {
        const width = widths[column] ?? 0
        return isText[column] ? text.padEnd(width) : text.padStart(width)
      })
      .join('  ')
      .trimEnd()
  const [first = [], ...rest] = lines
  console.log(`\n${draw(first)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`)
  for (const line of rest) console.log(draw(line))
}

/** Three digits are enough. */
function show(cell: Cell): string {
  if (cell === undefined || (typeof cell === 'number' && !Number.isFinite(cell))) return '–'
  if (typeof cell === 'string') return cell
  if (cell === 0) return '0'
  if (Number.isInteger(cell) || Math.abs(cell) >= 100) return cell.toFixed(0)
  return cell.toFixed(Math.abs(cell) >= 10 ? 1 : 2)
}

/** How many times `value` is `base`, as `3.1x`. */
export function ratio(value: number | undefined, base: number | undefined): string | undefined {
  if (value === undefined || !base) return undefined
  const times = value / base
  return `${times.toFixed(times >= 100 ? 0 : times >= 10 ? 1 : 2)}x`
}

export type Bar = {
  what: string
  value: number | undefined
  unit: string
} & ({ atMost: number } | { atLeast: number })

/** Prints each bar with PASS or FAIL; what was not measured fails. True if all passed. */
export function checkBars(bars: readonly Bar[]): boolean {
  printTable(
    ['bar', 'measured', 'wanted', 'unit', ''],
    bars.map((bar) => [bar.what, bar.value, wanted(bar), bar.unit, passes(bar) ? 'PASS' : 'FAIL']),
  )
  return bars.every(passes)
}

function passes(bar: Bar): boolean {
  if (bar.value === undefined) return false
  return 'atMost' in bar ? bar.value <= bar.atMost : bar.value >= bar.atLeast
}

function wanted(bar: Bar): string {
  return 'atMost' in bar ? `at most ${show(bar.atMost)}` : `at least ${show(bar.atLeast)}`
}

export function quantile(values: readonly number[], part: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}
