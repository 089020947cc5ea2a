import type { RowFeed } from './source/index.ts'
import { fillTypes, parseTemplate, type Template, templateFromKeys } from './template/index.ts'

/** The template of a feed's rows: the request's, or one of the feed's columns, with the database's types where it names none. */
export function queryTemplate(requested: unknown, { columns }: Pick<RowFeed, 'columns'>): Template {
  const keys = columns.map(({ name }) => name)
  const template = parseTemplate(requested, { keys }) ?? templateFromKeys(keys)
  const types = new Map(columns.flatMap(({ name, type }) => (type === null ? [] : [[name, type] as const])))
  return fillTypes(template, types)
}
