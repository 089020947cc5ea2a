const graphemes = new Intl.Segmenter()
/** What terminals draw two columns wide: East Asian characters but for the half-width forms, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u
const HALF_WIDE = /[\uff61-\uffdc\uffe8-\uffee]/u
/** Nothing but what is drawn over, or not at all. */
const NO_WIDTH = /^[\p{M}\p{Cf}]*$/u

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const { segment } of graphemes.segment(text)) {
    if (NO_WIDTH.test(segment)) continue
    columns += WIDE.test(segment) && !HALF_WIDE.test(segment) ? 2 : 1
  }
  return columns
}

/** Like `padEnd`, by what a terminal shows. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** Rows below their head, each column as wide as its widest cell. */
export function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => columnsOf(row[column] ?? ''))))
  return all
    .map((row) =>
      row
        .map((cell, column) => padTo(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
