import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileCondition, parseCondition } from '../../../src/exports/condition/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

type Cell = string | number | boolean | null | { digits: string }

function holds(text: string, value: Cell | undefined): boolean {
  return compileCondition(parseCondition(text))(value)
}

function refusal(text: string): { message: string; details: Record<string, unknown> } {
  try {
    parseCondition(text, 'c')
  } catch (error) {
    if (isAppError(error, ERRORS.TEMPLATE_INVALID)) return { message: error.message, details: error.details }
    throw error
  }
  throw new Error(`accepted: ${text}`)
}

describe('a condition', () => {
  test('compares the cell with the value on its right', () => {
    expect([-11, -10, -9, -1, 0, 1].filter((value) => holds('>=0 or <=-10', value))).toEqual([-11, -10, 0, 1])
    expect(holds('> 1.5', 1.6)).toBe(true)
    expect(holds('< 1e3', 999)).toBe(true)
    expect(holds('<> 3', 4)).toBe(true)
    expect(holds('== 3', 3)).toBe(true)
  })

  test('takes numeric texts for numbers, and compares two texts as texts', () => {
    expect(holds('>= 10', '12.50')).toBe(true)
    expect(holds('= 12.5', '12.50')).toBe(true)
    expect(holds("= '5'", 5)).toBe(true)
    expect(holds('> 10', 'twelve')).toBe(false)
    expect(holds("> '10'", '9')).toBe(true)
    expect(holds("> '2024-01-31'", '2024-02-01')).toBe(true)
    expect(holds('= 1', true)).toBe(false)
    expect(holds('= true', true)).toBe(true)
  })

  test('compares every digit of numbers that are too long for a double', () => {
    const id = '123456789012345678'
    const next = '123456789012345679'
    for (const text of [`in (${id})`, `= ${id}`, `<= ${id}`, `= '${id}'`]) {
      expect(holds(text, id), text).toBe(true)
      expect(holds(text, next), text).toBe(false)
      expect(holds(text, { digits: id }), text).toBe(true)
      expect(holds(text, { digits: next }), text).toBe(false)
    }
    expect(holds(`> ${id}`, { digits: next })).toBe(true)
    expect(holds(`!= ${id}`, { digits: next })).toBe(true)
    expect(holds('= 12345678901234568', { digits: '12345678901234567' })).toBe(false)
    expect(holds(`> -${id}`, { digits: `-${next}` })).toBe(false)
    expect(holds(`= ${id}.50`, `00${id}.5`)).toBe(true)
    expect(holds(`> 5`, { digits: id })).toBe(true)
    expect(holds(`< 0`, { digits: `-${id}` })).toBe(true)
    expect(holds('= 1e17', '100000000000000000')).toBe(true)
    expect(holds(`like '%679'`, { digits: next })).toBe(true)
    // What a double keeps is compared as a double.
    expect(holds('= 0.1', '0.1000000000000000055')).toBe(true)
  })

  test('lets null pass through "= null" alone', () => {
    expect(holds('= null', null)).toBe(true)
    expect(holds('= NULL', undefined)).toBe(true)
    expect(holds('in (1, null)', null)).toBe(true)
    expect(holds('!= null', 0)).toBe(true)
    for (const text of ['= 0', '!= 0', '> -1', '<= 0', "= ''", "like '%'", '!= null', 'in (0)']) {
      expect(holds(text, null), text).toBe(false)
    }
    expect(holds('not = 0', null)).toBe(true)
  })

  test('binds "not" before "and", and "and" before "or"', () => {
    expect(parseCondition('not >1 and <5 or =9')).toEqual({
      op: 'or',
      left: {
        op: 'and',
        left: { op: 'not', inner: { op: '>', value: 1 } },
        right: { op: '<', value: 5 },
      },
      right: { op: '=', value: 9 },
    })
    expect(holds('>0 and (<5 or >10)', 7)).toBe(false)
    expect(holds('NOT (>0 AND <5)', 7)).toBe(true)
  })

  test('reads texts in either quotes, with a doubled quote inside, and bare words behind = and !=', () => {
    expect(holds("= 'it''s'", "it's")).toBe(true)
    expect(holds('= "say ""no"""', 'say "no"')).toBe(true)
    expect(holds('=已支付', '已支付')).toBe(true)
    expect(holds('!= paid', 'open')).toBe(true)
    expect(holds('= 2024-01-01', '2024-01-01')).toBe(true)
    expect(holds("in (1, 2, 'a', b)", 'b')).toBe(true)
    expect(holds("not in (1, 2, 'a')", '2')).toBe(false)
    expect(holds("not in (1, 2, 'a')", 3)).toBe(true)
  })

  test('matches like-patterns with % and _', () => {
    const rows: [string, Cell, boolean][] = [
      ["like 'a%'", 'abc', true],
      ["like '%c'", 'abc', true],
      ["like '%b%'", 'abc', true],
      ["like 'a_c'", 'abc', true],
      ["like 'a_c'", 'abbc', false],
      ["like 'a%a'", 'a', false],
      ["like '张_'", '张三', true],
      ["like '_'", '😀', true],
      ["like '%_'", '😀', true],
      ["like '__'", '😀', false],
      ["like '100\\%'", '100%', true],
      ["like '100\\%'", '1000', false],
      ["like '13%'", 138, true],
      ["not like '%x%'", 'abc', true],
    ]
    for (const [text, value, expected] of rows) expect(holds(text, value), `${value} ${text}`).toBe(expected)
  })

  test('stays quick on a pattern made to backtrack', () => {
    const pattern = '%a_'.repeat(80)
    expect(holds(`like '${pattern}b'`, 'a'.repeat(30_000))).toBe(false)
  })
})

describe('a bad condition', () => {
  test.each([
    ['', 1, 'expected a comparison such as >= 0, found the end'],
    ['>=', 3, 'expected a number or a text, found the end'],
    ['>=0 or', 7, 'expected a comparison such as >= 0, found the end'],
    ['>=0 <5', 5, 'expected "and", "or" or the end, found "<"'],
    ['> abc', 3, 'expected a number, or a text in quotes, found "abc"'],
    ['> null', 3, 'expected a number or a text, found "null"'],
    ["= 'abc", 3, "this text has no closing '"],
    ['in 1', 4, 'expected "(" after "in", found "1"'],
    ['in ()', 5, 'expected a value, found ")"'],
    ['in (1 2)', 7, 'expected "," or ")", found "2"'],
    ['(>1', 4, 'expected "and", "or" or ")", found the end'],
    ['>1)', 3, 'expected "and", "or" or the end, found ")"'],
    ['! 5', 1, '"!" is no operator'],
    ['5', 1, 'expected a comparison such as >= 0, found "5"'],
    ['like >', 6, 'expected a pattern in quotes, found ">"'],
    ['> 1e999', 3, 'the number 1e999 is too large'],
  ])('%j is refused at position %i', (text, position, message) => {
    const refused = refusal(text)
    expect(refused.message).toContain(`c, position ${position}: `)
    expect(refused.message).toContain(message)
    expect(refused.details).toEqual({ path: 'c', position })
  })

  test('cannot exhaust the stack or the clock', () => {
    expect(refusal(`${'('.repeat(1_000)}>1`).message).toContain('nested')
    expect(refusal(`${'not '.repeat(490)}>1`).message).toContain('nested')
    expect(refusal(`${'>1 or '.repeat(100_000)}>1`).message).toContain('characters long')
    expect(refusal(`like '${'x'.repeat(300)}'`).message).toContain('a pattern may be')
    expect(holds(`${'>1 or '.repeat(300)}=0`, 0)).toBe(true)
  })
})

describe('any condition', () => {
  const leaf = fc.oneof(
    fc.tuple(fc.constantFrom('>', '>=', '<', '<=', '=', '!='), fc.integer({ min: -5, max: 5 })),
    fc.tuple(fc.constant('in'), fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 4 })),
  )
  type Tree = { text: string; test: (value: number) => boolean }
  const leafTree: fc.Arbitrary<Tree> = leaf.map(([op, operand]) => {
    if (typeof operand !== 'number') {
      return { text: `${op} (${operand.join(', ')})`, test: (value) => operand.includes(value) }
    }
    const tests: Record<string, (value: number) => boolean> = {
      '>': (value) => value > operand,
      '>=': (value) => value >= operand,
      '<': (value) => value < operand,
      '<=': (value) => value <= operand,
      '=': (value) => value === operand,
      '!=': (value) => value !== operand,
    }
    return { text: `${op}${operand}`, test: tests[op]! }
  })
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leafTree,
      tie('tree').map(({ text, test: inner }): Tree => ({ text: `not (${text})`, test: (v) => !inner(v) })),
      fc
        .tuple(tie('tree'), tie('tree'))
        .map(
          ([a, b]): Tree => ({ text: `(${a.text}) AND (${b.text})`, test: (v) => a.test(v) && b.test(v) }),
        ),
      fc
        .tuple(tie('tree'), tie('tree'))
        .map(([a, b]): Tree => ({ text: `(${a.text}) or (${b.text})`, test: (v) => a.test(v) || b.test(v) })),
    ),
  }))

  test('means what its parts mean', () => {
    fc.assert(
      fc.property(tree, fc.integer({ min: -6, max: 6 }), ({ text, test: oracle }, value) => {
        fc.pre(text.length < 1_900)
        expect(holds(text, value)).toBe(oracle(value))
        expect(holds(text, String(value))).toBe(oracle(value))
      }),
      { numRuns: 500 },
    )
  })

  test('is either read or refused with a position inside it, whatever it is', () => {
    const words = fc.constantFrom(
      '>',
      '<=',
      '=',
      'not',
      'and',
      'or',
      'in',
      'like',
      '(',
      ')',
      ',',
      "'a'",
      '1',
      'x',
      '!',
      '"',
    )
    fc.assert(
      fc.property(
        fc.array(words).map((parts) => parts.join(' ')),
        (text) => {
          try {
            parseCondition(text)
          } catch (error) {
            expect(isAppError(error, ERRORS.TEMPLATE_INVALID)).toBe(true)
            const { position } = (error as { details: { position: number } }).details
            expect(position).toBeGreaterThan(0)
            expect(position).toBeLessThanOrEqual(text.length + 1)
          }
        },
      ),
    )
  })

  test('matches patterns as the equivalent regular expression does', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '😀'), { maxLength: 8 }).map((parts) => parts.join(''))
    const patterns = fc.array(fc.constantFrom('a', 'b', '%', '_', '😀'), { maxLength: 6 })
    fc.assert(
      fc.property(patterns, letters, (parts, value) => {
        const source = parts.map((part) => (part === '%' ? '.*' : part === '_' ? '.' : part)).join('')
        const oracle = new RegExp(`^${source}$`, 'su').test(value)
        expect(holds(`like '${parts.join('')}'`, value)).toBe(oracle)
      }),
      { numRuns: 2_000 },
    )
  })
})
