import { displayWidth } from '../display-width.ts'

/** Lines that a text takes in a cell which wraps at `width`. */
export function wrappedLines(text: string, width: number): number {
  return text
    .split('\n')
    .reduce((lines, line) => lines + Math.max(1, Math.ceil(displayWidth(line) / width)), 0)
}
