import type { Condition, Literal } from './condition.ts'
import { type Comparison, type Token, tokenize } from './condition-lexer.ts'
import { templateError } from './template-error.ts'

/** A condition is a line that a person wrote; whatever is larger is a mistake or an attack. */
const CONDITION_LIMITS = { length: 2_000, depth: 32, pattern: 256 } as const

/**
 * Reads `>=0 or <=-10`, the value of the cell being the silent left side of every comparison:
 *
 *     or         := and { "or" and }
 *     and        := not { "and" not }
 *     not        := "not" not | "(" or ")" | comparison
 *     comparison := (">" | ">=" | "<" | "<=") (number | text)
 *                 | ("=" | "==" | "!=" | "<>") value
 *                 | "in" "(" value { "," value } ")"
 *                 | "like" text
 *     value      := number | text | word | "null" | "true" | "false"
 */
export function parseCondition(text: string, path = 'condition'): Condition {
  return new ConditionParser(text, path).parse()
}

class ConditionParser {
  readonly #path: string
  readonly #tokens: Token[]
  #next = 0
  #depth = 0

  constructor(text: string, path: string) {
    this.#path = path
    if (text.length > CONDITION_LIMITS.length) {
      this.#refuse(CONDITION_LIMITS.length, `a condition may be ${CONDITION_LIMITS.length} characters long`)
    }
    this.#tokens = tokenize(text, (at, message) => this.#refuse(at, message))
  }

  parse(): Condition {
    const condition = this.#or()
    if (this.#peek().kind !== 'end') this.#expected('"and", "or" or the end')
    return condition
  }

  #or(): Condition {
    const terms = [this.#and()]
    while (this.#takeKeyword('or')) terms.push(this.#and())
    return balanced('or', terms)
  }

  #and(): Condition {
    const terms = [this.#not()]
    while (this.#takeKeyword('and')) terms.push(this.#not())
    return balanced('and', terms)
  }

  #not(): Condition {
    if (this.#takeKeyword('not')) return this.#nested(() => ({ op: 'not', inner: this.#not() }))
    if (!this.#take('(')) return this.#comparison()
    const inner = this.#nested(() => this.#or())
    if (!this.#take(')')) this.#expected('"and", "or" or ")"')
    return inner
  }

  #nested(read: () => Condition): Condition {
    this.#depth += 1
    if (this.#depth > CONDITION_LIMITS.depth) {
      this.#refuse(this.#peek().at, `a condition may be nested ${CONDITION_LIMITS.depth} deep`)
    }
    const condition = read()
    this.#depth -= 1
    return condition
  }

  #comparison(): Condition {
    const token = this.#peek()
    if (token.kind === 'operator') {
      this.#next += 1
      return { op: token.operator, value: this.#operand(token.operator) }
    }
    if (this.#takeKeyword('in')) return { op: 'in', values: this.#list() }
    if (this.#takeKeyword('like')) return { op: 'like', pattern: this.#pattern() }
    return this.#expected('a comparison such as >= 0')
  }

  #operand(operator: Comparison): Literal {
    if (operator === '=' || operator === '!=') return this.#value('a value')
    const token = this.#peek()
    if (token.kind !== 'number' && token.kind !== 'string') {
      this.#expected(token.kind === 'word' ? 'a number, or a text in quotes' : 'a number or a text')
    }
    return this.#value('a number or a text')
  }

  #value(expected: string): Literal {
    const token = this.#peek()
    this.#next += 1
    if (token.kind === 'number' || token.kind === 'string') return token.value
    if (token.kind === 'word') return token.text
    if (token.kind === 'keyword') {
      if (token.keyword === 'null') return null
      if (token.keyword === 'true') return true
      if (token.keyword === 'false') return false
    }
    this.#next -= 1
    return this.#expected(expected)
  }

  #list(): Literal[] {
    if (!this.#take('(')) this.#expected('"(" after "in"')
    const values = [this.#value('a value')]
    while (this.#take(',')) values.push(this.#value('a value'))
    if (!this.#take(')')) this.#expected('"," or ")"')
    return values
  }

  #pattern(): string {
    const token = this.#peek()
    if (token.kind !== 'string' && token.kind !== 'word' && token.kind !== 'number') {
      return this.#expected('a pattern in quotes')
    }
    this.#next += 1
    const pattern = token.kind === 'string' ? token.value : token.text
    if (pattern.length > CONDITION_LIMITS.pattern) {
      this.#refuse(token.at, `a pattern may be ${CONDITION_LIMITS.pattern} characters long`)
    }
    return pattern
  }

  #peek(): Token {
    return this.#tokens[this.#next]!
  }

  #take(kind: '(' | ')' | ','): boolean {
    if (this.#peek().kind !== kind) return false
    this.#next += 1
    return true
  }

  #takeKeyword(keyword: 'and' | 'or' | 'not' | 'in' | 'like'): boolean {
    const token = this.#peek()
    if (token.kind !== 'keyword' || token.keyword !== keyword) return false
    this.#next += 1
    return true
  }

  #expected(what: string): never {
    const token = this.#peek()
    const found = token.kind === 'end' ? 'the end' : JSON.stringify(shortened(token.text))
    return this.#refuse(token.at, `expected ${what}, found ${found}`)
  }

  #refuse(at: number, message: string): never {
    throw templateError(this.#path, message, at + 1)
  }
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** A chain of hundreds becomes a tree a few levels high, so that walking it needs little stack. */
function balanced(op: 'and' | 'or', terms: Condition[]): Condition {
  if (terms.length === 1) return terms[0]!
  const middle = terms.length >> 1
  return { op, left: balanced(op, terms.slice(0, middle)), right: balanced(op, terms.slice(middle)) }
}
