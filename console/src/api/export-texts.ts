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

/** What the server says of a column, taken apart so that it can be said in the language of the page. */
export interface ColumnWarning {
  kind: keyof typeof KINDS
  name: string
  count: number
  type: string
}

const KINDS = {
  misfit: /^column "(.*)": ([\d,]+) values? (?:is|are) not of the type (\w+)$/s,
  long: /^column "(.*)": ([\d,]+) numbers? ha(?:s|ve) more than the 15 digits that Excel keeps/s,
  rounded: /^column "(.*)": ([\d,]+) numbers? (?:was|were) rounded to the 15 digits that Excel keeps/s,
  escaped: /^column "(.*)": ([\d,]+) texts? looks? like a formula and got an apostrophe/s,
}

/** Null: of another kind, to be shown as it is. */
export function readWarning(text: string): ColumnWarning | null {
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    const [, name, count, type = ''] = KINDS[kind].exec(text) ?? []
    if (name !== undefined) return { kind, name, count: Number(count?.replaceAll(',', '')), type }
  }
  return null
}
