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
    const [, first, domain] = /^\s*(\S)\S*@([^\s@]+)\s*$/u.exec(text) ?? []
    return first === undefined ? HIDDEN : `${first}${HIDDEN}@${domain}`
  },
  id_card: (text) => hideMiddle(text, { first: 3, last: 4, least: 12 }),
  bank_card: (text) =>
    /^[\d\s-]+$/.test(text) ? hideDigits(text, { first: 4, last: 4, least: 12 }) : HIDDEN,
  /** The first character of each word, unless it is the only one. */
  name: (text) =>
    text.replace(/\S+/gu, (word) => {
      const [first = '', ...rest] = word
      return rest.length === 0 ? '*' : `${first}${'*'.repeat(Math.min(rest.length, 32))}`
    }),
  last4: (text) => {
    const characters = [...text]
    return characters.length <= SHOWN ? HIDDEN : `${HIDDEN}${characters.slice(-SHOWN).join('')}`
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
  const characters = [...text.trim()]
  if (characters.length < least || characters.length > 32) return HIDDEN
  const stars = '*'.repeat(characters.length - first - last)
  return `${characters.slice(0, first).join('')}${stars}${characters.slice(-last).join('')}`
}
