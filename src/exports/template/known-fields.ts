import { closest } from '../../kernel/index.ts'
import { templateError } from '../condition/index.ts'
import { entriesOf, type JsonObject, memberPath } from './json-shape.ts'

const LOOK = ['align', 'v-align', 'bold', 'color', 'bg_color'] as const

/** Every field that a template may have, by its place. What is not here is refused: a new field begins with its name here. */
export const KNOWN_FIELDS = {
  template: ['ceil', 'col', 'row', 'subtotals'],
  column: [
    'name',
    'title',
    'children',
    'type',
    'format',
    'width',
    'height',
    'wrap',
    'condition_style',
    'mask',
    'totals',
    ...LOOK,
  ],
  row: ['name', 'title', 'children', 'row_count', ...LOOK],
  condition: ['condition', 'color', 'bold', 'bg_color'],
} as const satisfies Record<string, readonly string[]>

/** An unknown field is most often a misspelt one. */
export function refuseUnknown(object: JsonObject, place: keyof typeof KNOWN_FIELDS, path: string): void {
  const known: readonly string[] = KNOWN_FIELDS[place]
  for (const [name] of entriesOf(object)) {
    if (known.includes(name)) continue
    const meant = closest(name, known)
    const hint =
      meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`
    throw templateError(memberPath(path, name), `there is no such field; ${hint}`)
  }
}
