export const MAX_ROWS = 1_048_576
export const MAX_COLUMNS = 16_384

/** Letters of a zero-based column: 0 is A, 26 is AA. */
export function columnLetters(column: number): string {
  let letters = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}

/** `row` counts from 1, as in the file; `column` from 0. */
export function cellReference(row: number, column: number): string {
  return `${columnLetters(column)}${row}`
}
