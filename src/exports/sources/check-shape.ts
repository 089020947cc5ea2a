import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { AppError, ERRORS } from '../../kernel/index.ts'

interface Shape {
  properties?: Record<string, Shape>
  items?: Shape
}

const KIND = '/properties/kind'

/** Checks a part of a request that was read from a file. The error names the place that is wrong. */
export function checkShape<T extends TSchema>(schema: T, value: unknown, place: string): Static<T> {
  const checked = Compile(schema)
  if (checked.Check(value)) return value
  const [, all] = checked.Errors(value)
  const others = all
    .filter(({ keyword, schemaPath }) => keyword === 'const' && schemaPath.endsWith(KIND))
    .map(({ schemaPath }) => schemaPath.slice(0, -KIND.length))
  // Errors of variants of another kind, and that no variant fits, say nothing; of an unknown key only the name counts.
  const errors = all.filter(
    ({ keyword, schemaPath }) =>
      !['oneOf', 'anyOf', 'boolean'].includes(keyword) && !others.some((path) => schemaPath.startsWith(path)),
  )
  // A misspelt key is the reason why the right one is missing.
  const unknown = errors.find(({ keyword }) => keyword === 'additionalProperties')
  const error = unknown ?? errors[0] ?? all.find(({ keyword }) => keyword === 'const') ?? all[0]
  const steps = error?.instancePath.split('/').slice(1) ?? []
  const at = [place, ...steps].join('.')
  if (error?.keyword === 'additionalProperties')
    throw wrong(`${at}.${error.params.additionalProperties[0]} is unknown${namesOf(schema, steps)}`)
  if (error?.keyword === 'required') throw wrong(`${at}.${error.params.requiredProperties[0]} is missing`)
  throw wrong(`${at} has an invalid value`)
}

function namesOf(schema: TSchema, steps: string[]): string {
  const inner = steps.reduce<Shape | undefined>((one, step) => one?.properties?.[step] ?? one?.items, schema)
  return inner?.properties ? `; there are ${Object.keys(inner.properties).join(', ')}` : ''
}

function wrong(message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, message, { retryable: false })
}
