import { readNumber as exactNumber, type LongNumber } from './long-number.ts'

export type Comparison = '>' | '>=' | '<' | '<=' | '=' | '!='

export type Token =
  | { kind: 'operator'; at: number; text: string; operator: Comparison }
  | { kind: 'keyword'; at: number; text: string; keyword: Keyword }
  | { kind: 'number'; at: number; text: string; value: number | LongNumber }
  | { kind: 'string'; at: number; text: string; value: string }
  /** Anything without quotes that is neither a number nor a keyword, `paid` or `2024-01-01`. */
  | { kind: 'word'; at: number; text: string }
  | { kind: '(' | ')' | ','; at: number; text: string }
  | { kind: 'end'; at: number; text: string }

type Keyword = 'and' | 'or' | 'not' | 'in' | 'like' | 'null' | 'true' | 'false'

/** Called with the zero-based place of the mistake; must throw. */
export type Refuse = (at: number, message: string) => never

const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'like', 'null', 'true', 'false'])
const OPERATORS: Readonly<Record<string, Comparison>> = {
  '>=': '>=',
  '<=': '<=',
  '!=': '!=',
  '<>': '!=',
  '==': '=',
  '>': '>',
  '<': '<',
  '=': '=',
}
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const WORD = /[^\s()<>=!,'"]+/y
const SPACE = /\s*/y

/** Cuts a condition into tokens; the last one is always `end`. Takes time in proportion to the text. */
export function tokenize(text: string, refuse: Refuse): Token[] {
  const tokens: Token[] = []
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const token = readToken(text, at, refuse)
    tokens.push(token)
    at = skipSpace(text, at + token.text.length)
  }
  tokens.push({ kind: 'end', at: text.length, text: '' })
  return tokens
}

function readToken(text: string, at: number, refuse: Refuse): Token {
  const char = text.charAt(at)
  if (char === '(' || char === ')' || char === ',') return { kind: char, at, text: char }
  if (char === "'" || char === '"') return readString(text, at, char, refuse)
  for (const length of [2, 1]) {
    const symbol = text.slice(at, at + length)
    const operator = OPERATORS[symbol]
    if (operator) return { kind: 'operator', at, text: symbol, operator }
  }
  WORD.lastIndex = at
  const word = WORD.exec(text)?.[0]
  if (word === undefined)
    return refuse(at, `${JSON.stringify(char)} is no operator; write != for "not equal"`)
  const lower = word.toLowerCase()
  if (KEYWORDS.has(lower)) return { kind: 'keyword', at, text: word, keyword: lower as Keyword }
  if (NUMBER.test(word)) return readNumber(word, at, refuse)
  return { kind: 'word', at, text: word }
}

function readNumber(word: string, at: number, refuse: Refuse): Token {
  if (!Number.isFinite(Number(word))) return refuse(at, `the number ${word} is too large`)
  return { kind: 'number', at, text: word, value: exactNumber(word) ?? Number(word) }
}

/** A quote inside a text is written twice, as in SQL. */
function readString(text: string, at: number, quote: string, refuse: Refuse): Token {
  let value = ''
  let from = at + 1
  for (;;) {
    const close = text.indexOf(quote, from)
    if (close === -1) return refuse(at, `this text has no closing ${quote}`)
    value += text.slice(from, close)
    from = close + 1
    if (text.charAt(from) !== quote) return { kind: 'string', at, text: text.slice(at, from), value }
    value += quote
    from += 1
  }
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}
