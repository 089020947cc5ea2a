import type { RowFeed } from '../sources/index.ts'
import { fillTypes, parseTemplate, type Template, templateFromKeys } from '../template/index.ts'
import type { ExportRequest } from './export-request.ts'

/** The template of a feed's rows: the request's, or one of the feed's columns, with the database's types where it names none. */
export function queryTemplate(
  requested: unknown,
  { columns }: Pick<RowFeed, 'columns'>,
  { type, timezone }: Pick<ExportRequest, 'type' | 'timezone'>,
): Template {
  // In a CSV file an instant is best as the database writes it: with its fractions and offset. So written it also need not be written twice.
  const plain = type === 'csv' && timezone === 'UTC'
  const keys = columns.map(({ name }) => name)
  const template = parseTemplate(requested, { keys }) ?? templateFromKeys(keys)
  const isTaken = (type: string | null) =>
    type !== null && !(plain && (type === 'date' || type === 'datetime'))
  const types = new Map(columns.flatMap(({ name, type }) => (isTaken(type) ? [[name, type!] as const] : [])))
  return fillTypes(template, types)
}
