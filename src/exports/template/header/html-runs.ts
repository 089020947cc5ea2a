import type { RichRun } from '../../sheet/index.ts'
import { parseColor } from '../color.ts'
import { decodeEntities } from './html-entities.ts'

/** What one cell can hold; the rest is cut. */
const MAX_TEXT = 32_767
/** Tags open at once; deeper ones are ignored. */
const MAX_OPEN = 64

/** Of a tag's attributes, so that no pattern has to walk far. */
const MAX_ATTRIBUTES = 500

type Look = Omit<RichRun, 'text'>
const LOOKS: ReadonlyMap<string, Look> = new Map([
  ['b', { bold: true }],
  ['strong', { bold: true }],
  ['i', { italic: true }],
  ['em', { italic: true }],
  ['u', { underline: true }],
])
/** Elements on lines of their own. */
const BLOCKS: ReadonlySet<string> = new Set(['p', 'div', 'li'])
/** Elements whose content is no text. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style'])
const MARKUP = /<(?:\/?[a-z]|!)/iy
const TAG = /^(\/?)([a-z][a-z0-9]*)(.*)$/is

/**
 * Turns the HTML that a cell can show (b, strong, i, em, u, br, p, font color, span style color) into runs of text.
 * Other tags vanish, their text stays, scripts and styles go altogether; line breaks in the text are kept, because many
 * summaries are plain text. Reads the input once, whatever it holds.
 */
export function htmlToRuns(html: string): RichRun[] {
  return new HtmlReader(html.replace(/\r\n?/g, '\n')).read()
}

class HtmlReader {
  readonly #html: string
  readonly #open: { tag: string; look: Look }[] = []
  readonly #runs: RichRun[] = []
  #length = 0
  #atLineStart = true
  #breakDue = false

  constructor(html: string) {
    this.#html = html
  }

  read(): RichRun[] {
    let at = 0
    while (at < this.#html.length && this.#length < MAX_TEXT) {
      const start = this.#html.indexOf('<', at)
      if (start === -1) break
      this.#text(this.#html.slice(at, start))
      at = this.#markup(start)
    }
    this.#text(this.#html.slice(at))
    return this.#runs
  }

  /** Handles what begins with `<` and returns the place after it. */
  #markup(start: number): number {
    const html = this.#html
    if (html.startsWith('<!--', start)) return after(html, '-->', start)
    // A "<" before anything else is text, as in "profit < 0". Asked first: looking for each one's ">" would take time
    // in proportion to the square of the input.
    MARKUP.lastIndex = start
    if (!MARKUP.test(html)) return this.#literal(start, start + 1)
    const end = html.indexOf('>', start)
    if (end === -1) return this.#literal(start, html.length)
    const match = TAG.exec(html.slice(start + 1, end))
    if (match === null) return end + 1
    const tag = match[2]!.toLowerCase()
    if (match[1] === '' && HIDDEN.has(tag)) return this.#skipHidden(tag, end)
    this.#tag(tag, match[1] === '/', match[3]!.slice(0, MAX_ATTRIBUTES))
    return end + 1
  }

  #literal(from: number, to: number): number {
    this.#text(this.#html.slice(from, to))
    return to
  }

  #skipHidden(tag: string, from: number): number {
    const closing = new RegExp(`</${tag}`, 'gi')
    closing.lastIndex = from
    const found = closing.exec(this.#html)
    return found ? after(this.#html, '>', found.index) : this.#html.length
  }

  #tag(tag: string, isClosing: boolean, attributes: string): void {
    if (tag === 'br') this.#lineBreak()
    if (BLOCKS.has(tag) && !this.#atLineStart) this.#breakDue = true
    if (isClosing) {
      const last = this.#open.findLastIndex((element) => element.tag === tag)
      if (last !== -1) this.#open.splice(last, 1)
      return
    }
    const look = LOOKS.get(tag) ?? colorLook(tag, attributes)
    if (look && this.#open.length < MAX_OPEN) this.#open.push({ tag, look })
  }

  #lineBreak(): void {
    this.#breakDue = false
    this.#append('\n')
    this.#atLineStart = true
  }

  #text(raw: string): void {
    if (raw === '') return
    const text = decodeEntities(raw)
    // Blanks between two blocks are the sender's indentation.
    if (this.#breakDue && text.trim() === '') return
    if (this.#breakDue) this.#lineBreak()
    this.#append(text)
    this.#atLineStart = text.endsWith('\n')
  }

  #append(text: string): void {
    const room = MAX_TEXT - this.#length
    const kept = text.length > room ? text.slice(0, room).replace(/[\ud800-\udbff]$/, '') : text
    if (kept === '') return
    this.#length += kept.length
    const look: Look = Object.assign({}, ...this.#open.map((element) => element.look))
    const last = this.#runs.at(-1)
    if (last && sameLook(last, look)) last.text += kept
    else this.#runs.push({ text: kept, ...look })
  }
}

function colorLook(tag: string, attributes: string): Look | undefined {
  if (tag !== 'font' && tag !== 'span') return undefined
  const pattern =
    tag === 'font' ? /\bcolor\s*=\s*["']?\s*([#\w]+)/i : /["';\s]color\s*:\s*([#\w]+(?:\([\d\s,]{5,20}\))?)/i
  const value = pattern.exec(attributes)?.[1]
  const color = value === undefined ? undefined : (parseColor(value) ?? parseRgb(value))
  // An element without a colour is remembered as well, so that its end does not close an outer one.
  return color === undefined ? {} : { color }
}

function parseRgb(text: string): string | undefined {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/i.exec(text)
  const parts = match?.slice(1).map(Number)
  if (!parts || parts.some((part) => part > 255)) return undefined
  return parts
    .map((part) => part.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}

function sameLook(a: Look, b: Look): boolean {
  return a.bold === b.bold && a.italic === b.italic && a.underline === b.underline && a.color === b.color
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found === -1 ? text.length : found + mark.length
}
