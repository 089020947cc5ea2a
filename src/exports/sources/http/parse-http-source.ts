import { checkShape } from '../check-shape.ts'
import { HttpSource } from './http-source.ts'

/** A source as somebody has written it into a file; its `kind` may be left out. */
export function parseHttpSource(value: object): HttpSource {
  const { kind: _, ...source } = checkShape(HttpSource, { kind: 'http', ...value }, 'source')
  return source
}
