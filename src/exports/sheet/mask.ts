import { createHmac } from 'node:crypto'

/** Ways of hiding a value. */
export const MASKS = ['phone', 'email', 'id_card', 'bank_card', 'name', 'last4', 'hash', 'fixed'] as const
export type Mask = (typeof MASKS)[number]

/** What is hidden, by key of the rows. Plain data: it travels to threads. */
export interface Masking {
  byName: Record<string, Mask>
  /** For `hash`: the same value gives the same hash under the same key, and nobody without it can try values out. */
  key: string
}

const HIDDEN = '***'
const SHOWN = 4
const BLANK = /^\s+$/u
const MOST_STARS = 32

/** What is shown of a value. Null stays null: that there is nothing is no secret. */
export function maskValue(value: unknown, mask: Mask, key: string): string | null {
  if (value === null || value === undefined) return null
  // A list or an object has no parts that could be left to see.
  const isText = typeof value === 'string' || typeof value === 'number'
  const text = typeof value === 'string' ? value : isText ? String(value) : JSON.stringify(value)
  if (text === '') return ''
  if (mask === 'hash') return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
  return isText ? MASKERS[mask](text) : HIDDEN
}

const MASKERS: Record<Exclude<Mask, 'hash'>, (text: string) => string> = {
  /** Digits but the first three and the last four; what is no phone number is hidden whole. */
  phone: (text) => (/^[\d\s+().-]+$/.test(text) ? hideDigits(text, { first: 3, last: 4, least: 8 }) : HIDDEN),
  /** The first character and the domain. */
  email: (text) => {
    const [, name, domain] = /^\s*(\S+)@([^\s@]+)\s*$/u.exec(text) ?? []
    // A mark at the beginning of the domain would belong to the `@`.
    if (name === undefined || firstOf(`@${domain}`) !== '@') return HIDDEN
    return `${shown(firstOf(name))}${HIDDEN}@${domain}`
  },
  id_card: (text) => hideMiddle(text, { first: 3, last: 4, least: 12 }),
  bank_card: (text) =>
    /^[\d\s-]+$/.test(text) ? hideDigits(text, { first: 4, last: 4, least: 12 }) : HIDDEN,
  /** The first character of each word, unless it is the only one. */
  name: (text) =>
    SIMPLE.test(text)
      ? text.replace(/\S+/g, (word) => hideWord(word[0]!, word.length))
      : wordsOf(text)
          .map((word) => (BLANK.test(word[0]!) ? word.join('') : hideWord(word[0]!, word.length)))
          .join(''),
  last4: (text) => {
    const characters = charactersOf(text)
    return characters.length <= SHOWN ? HIDDEN : `${HIDDEN}${characters.slice(-SHOWN).map(shown).join('')}`
  },
  fixed: () => HIDDEN,
}

interface Kept {
  first: number
  last: number
  /** Of shorter ones too little would be hidden: nothing is shown. */
  least: number
}

/** Stars for digits in the middle; signs between them stay, so that the number keeps its look. */
function hideDigits(text: string, { first, last, least }: Kept): string {
  const digits = text.replace(/\D/g, '').length
  if (digits < least) return HIDDEN
  let place = 0
  return text.replace(/\d/g, (digit) => {
    place += 1
    return place <= first || place > digits - last ? digit : '*'
  })
}

function hideMiddle(text: string, { first, last, least }: Kept): string {
  const characters = charactersOf(text.trim()).map(shown)
  if (characters.length < least || characters.length > 32) return HIDDEN
  const stars = '*'.repeat(characters.length - first - last)
  return `${characters.slice(0, first).join('')}${stars}${characters.slice(-last).join('')}`
}

const CLUSTERS = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** Scripts in which each code point is a character, if there is nothing else in the text: to split them costs a tenth. */
const SIMPLE =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03c9\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/

/** What a reader sees as characters: a letter with its accents, an emoji of several people, a flag. */
function charactersOf(text: string): string[] {
  return SIMPLE.test(text) ? text.split('') : Array.from(CLUSTERS.segment(text), ({ segment }) => segment)
}

function firstOf(text: string): string {
  if (SIMPLE.test(text)) return text[0]!
  const [first] = CLUSTERS.segment(text)
  return first!.segment
}

/** Characters of each word, and those of the blanks between them. */
function wordsOf(text: string): string[][] {
  const words: string[][] = []
  let wasBlank: boolean | undefined
  for (const character of charactersOf(text)) {
    const isBlank = BLANK.test(character)
    if (isBlank === wasBlank) words.at(-1)!.push(character)
    else words.push([character])
    wasBlank = isBlank
  }
  return words
}

function hideWord(first: string, length: number): string {
  return length === 1 ? '*' : `${shown(first)}${'*'.repeat(Math.min(length - 1, MOST_STARS))}`
}

/** A character to be shown. One with more code points than any emoji has, or with tags, which draw nothing, could be a whole text. */
function shown(character: string): string {
  return character.length === 1 || USUAL.test(character) ? character : '*'
}

const USUAL = /^[^\u{e0001}-\u{e007f}]{1,12}$/u
