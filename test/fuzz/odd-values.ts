import fc from 'fast-check'
import type { Schema } from '../http/rude/requests.ts'

/** Texts that have broken something somewhere. */
const TEXTS = [
  ...[
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\ufeff',
    '\u202e',
    '😀',
    '汉字',
    "'",
    '"',
    '\\',
    '\r\n',
    '%',
    '%zz',
    '%00',
  ],
  ...[
    '..',
    '../../etc/passwd',
    '/',
    '//',
    'a/b',
    '.',
    'CON',
    '__proto__',
    'constructor',
    'null',
    'true',
    '-0',
    '0',
  ],
  ...[
    '1e999',
    'Infinity',
    'NaN',
    '9007199254740993',
    '=1+1',
    '＝1',
    '{{page}}',

    '<b>',
    '&#x0;',
    'x'.repeat(5_000),
  ],
]

export const oddText = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 30 }),
)
/** `1e999` cannot be a value here: `toJson` writes it. */
const HUGE = '\u2063huge'
const oddNumber = fc.oneof(
  fc.constantFrom(0, -1, 0.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 2 ** 32, 5e-324, HUGE),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

export const oddValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(fc.constantFrom(null, true, false), oddText, oddNumber),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(oddText, tie('value'), { maxKeys: 3 }),
  ),
})).value

/** JSON, also with numbers that are none to JavaScript. */
export function toJson(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll(JSON.stringify(HUGE), '1e999')
}

export type Known = (name: string) => fc.Arbitrary<unknown> | undefined

/** What a schema takes, more or less: each part of it is odd now and then. `known` has values that mean something. */
export function like(schema: Schema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const good = known(name) ?? goodFor(schema, known)
  return fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: oddValue })
}

function goodFor(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either) return fc.oneof(...either.map((one) => goodFor(one, known)))
  switch (schema.type) {
    case 'object':
      return fc
        .tuple(
          fc.record(
            Object.fromEntries(
              Object.entries(schema.properties ?? {}).map(([name, member]) => [
                name,
                like(member, known, name),
              ]),
            ),
            { requiredKeys: schema.required ?? [] },
          ),
          fc.oneof(
            { weight: 15, arbitrary: fc.constant({}) },
            { weight: 1, arbitrary: fc.dictionary(oddText, oddValue, { maxKeys: 1 }) },
          ),
        )
        .map(([object, more]) => ({ ...object, ...more }))
    case 'array':
      return fc.array(like(schema.items ?? {}, known), { maxLength: 3 })
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(schema.minimum ?? -1_000, -(2 ** 31)),
        max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1),
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return oddText
    default:
      return oddValue
  }
}
