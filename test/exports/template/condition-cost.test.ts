import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CONDITION_COSTS, costOf } from '../../../src/exports/condition/condition-budget.ts'
import type { Condition } from '../../../src/exports/condition/index.ts'
import { compileLike, likeScans } from '../../../src/exports/condition/like-pattern.ts'
import { parseTemplate } from '../../../src/exports/template/index.ts'
import { ERRORS, isAppError } from '../../../src/kernel/index.ts'

/** A text that counts how often one of its characters is looked at. */
class CountedText {
  looks = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#text.length
  }

  codePointAt(at: number): number | undefined {
    this.looks += 1
    return this.#text.codePointAt(at)
  }
}

const refused = (template: unknown) => {
  try {
    parseTemplate(template)
  } catch (error) {
    if (isAppError(error, ERRORS.TEMPLATE_TOO_COSTLY)) return error
    throw error
  }
  return null
}

const likesOf = (condition: Condition): string[] => {
  if (condition.op === 'like') return [condition.pattern]
  if (condition.op === 'not') return likesOf(condition.inner)
  if (condition.op === 'and' || condition.op === 'or')
    return [...likesOf(condition.left), ...likesOf(condition.right)]
  return []
}

const styles = (condition: string, count: number) =>
  Array.from({ length: count }, () => ({ condition, bold: true }))

/** Few letters, so that patterns nearly match, again and again. */
const stretch = fc
  .tuple(fc.constantFrom('a', 'b', '_', '%', '😀'), fc.integer({ min: 1, max: 60 }))
  .map(([letter, times]) => letter.repeat(times))
const pattern = fc.array(stretch, { maxLength: 5 }).map((parts) => parts.join('').slice(0, 240))
const comparison = fc.oneof(
  pattern.map((text) => `like '${text}'`),
  fc.constantFrom('> 5', "= 'aaa'", 'in (1, 2, 3)', 'not = null'),
)
const condition = fc.array(comparison, { minLength: 1, maxLength: 7 }).map((parts) =>
  parts
    .join(' or ')
    .slice(0, 1_990)
    .replace(/ or [^']*'[^']*$/, ''),
)
const template = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    condition_style: fc.array(
      condition.map((text) => ({ condition: text, bold: true })),
      { maxLength: 6 },
    ),
  }),
  { minLength: 1, maxLength: 8 },
)
const cell = fc.array(stretch, { maxLength: 12 }).map((parts) => parts.join(''))

describe('what a template costs', () => {
  test('per cell is at most the stated factor of its length, for every template that is accepted', () => {
    let accepted = 0
    fc.assert(
      fc.property(template, cell, (nodes, text) => {
        let columns: ReturnType<typeof parseTemplate>
        try {
          columns = parseTemplate(nodes)
        } catch (error) {
          fc.pre(!isAppError(error, ERRORS.TEMPLATE_INVALID))
          expect(isAppError(error, ERRORS.TEMPLATE_TOO_COSTLY)).toBe(true)
          return
        }
        accepted += 1
        for (const { conditions } of columns?.leaves ?? []) {
          const costs = conditions.map(({ when }) => costOf(when))
          const likes = conditions.flatMap(({ when }) => likesOf(when))
          let looks = 0
          for (const like of likes) {
            const counted = new CountedText(text)
            compileLike(like)(counted)
            // What is tied to the ends costs its own length, whatever the text.
            expect(counted.looks).toBeLessThanOrEqual(likeScans(like) * text.length + 2 * like.length)
            looks += counted.looks
          }
          expect(costs.reduce((sum, { scans }) => sum + scans, 0)).toBeLessThanOrEqual(
            CONDITION_COSTS.cell.scans,
          )
          const ends = likes.reduce((sum, like) => sum + 2 * like.length, 0)
          expect(looks - ends).toBeLessThanOrEqual(CONDITION_COSTS.cell.scans * text.length)
        }
      }),
      { numRuns: 400 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test('is refused with the cost when one cell, or all of a row, would take too many passes', () => {
    const attack = Array.from({ length: 7 }, () => `like '%${'A'.repeat(250)}b%'`).join(' or ')
    const cell = refused([{ name: 'a', condition_style: styles(attack, 20) }])
    expect(cell?.message).toBe(
      "template[0].condition_style: the template costs 280 passes over a text by like '%…%' per cell, and may cost 64",
    )
    expect(cell?.details).toEqual({ path: 'template[0].condition_style', cost: 280, limit: 64 })
    expect(cell?.retryable).toBe(false)
    const columns = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ name: `c${n}`, condition_style: styles("like '%x%'", 32) }))
    expect(refused(columns(16))).toBeNull()
    expect(refused(columns(17))?.details).toMatchObject({ cost: 1_088, limit: 1_024 })
  })

  test('is refused when there are too many comparisons, whatever their kind', () => {
    const list = (values: number) => `in (${Array.from({ length: values }, () => 1).join(',')})`
    expect(refused([{ name: 'a', condition_style: styles(list(500), 2) }])).toBeNull()
    expect(refused([{ name: 'a', condition_style: styles(list(500), 3) }])?.details).toMatchObject({
      cost: 1_500,
      limit: 1_000,
    })
    const wide = Array.from({ length: 41 }, (_, n) => ({
      name: `c${n}`,
      condition_style: styles(list(500), 1),
    }))
    expect(refused(wide)?.details).toMatchObject({ cost: 20_500, limit: 20_000 })
  })

  test('is refused for conditions too long to read, rows kept free and columns that repeat', () => {
    const long = Array.from({ length: 300 }, (_, n) => ({
      name: `c${n}`,
      condition_style: styles(`= '${'x'.repeat(1_900)}'`, 1),
    }))
    expect(refused(long)?.message).toContain('characters of conditions per template, and may cost 500000')
    const rows = Array.from({ length: 20 }, (_, n) => ({ name: `r${n}`, row_count: 1_000_000 }))
    expect(refused({ ceil: [{ name: 'a' }], row: rows })?.details).toMatchObject({ cost: 40_000_000 })
    const same = Array.from({ length: 65 }, () => ({ name: 'a' }))
    expect(refused(same)?.details).toMatchObject({ cost: 65, limit: 64 })
  })

  test('is little for what people write', () => {
    const paid = "in ('paid', 'refunded') or like '%test%'"
    const columns = Array.from({ length: 200 }, (_, n) => ({
      name: `c${n}`,
      condition_style: styles(paid, 2),
    }))
    expect(refused(columns)).toBeNull()
    const wide = Array.from({ length: 16_000 }, (_, n) => ({
      name: `c${n}`,
      condition_style: styles('< 0', 1),
    }))
    expect(refused(wide)).toBeNull()
  })
})
