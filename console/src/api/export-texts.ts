import type { ExportTask } from '../../../src/http/wire.ts'

type Named = Pick<ExportTask, 'file_name' | 'title' | 'saved_export'> & { file?: ExportTask['file'] }

/** A time and chance, as the server names a file for which nobody chose a name. */
const MADE_UP = /^\d{8}-\d{6}-[a-z\d]{6}$/

/** By what people know an export, and what else says which one it is. */
export function namesOf({ file_name, file, title, saved_export }: Named): { name: string; about: string } {
  const fileName = file?.name ?? file_name
  const told = [title, saved_export].filter((text) => text !== null && text !== file_name)
  if (!MADE_UP.test(file_name) || told.length === 0) return { name: fileName, about: told.join(' · ') }
  return { name: told[0] as string, about: [...told.slice(1), fileName].join(' · ') }
}

export type ExportWarning = ExportTask['warning_details'][number]

/** Of an export or a preview. An instance of an earlier version, beside newer ones during an upgrade, has the sentences alone. */
export function warningsOf({
  warnings,
  warning_details,
}: Pick<ExportTask, 'warnings'> & Partial<Pick<ExportTask, 'warning_details'>>): ExportWarning[] {
  return warning_details ?? warnings.map((message) => ({ code: null, table: null, values: {}, message }))
}
