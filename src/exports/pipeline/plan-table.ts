import { type ExportRequest, type Table, watermarkLines } from '../request/index.ts'
import type { SheetPlan } from '../sheet/index.ts'
import { planSheet, type SheetContent, type Template } from '../template/index.ts'

/** The sheet of one table, for its file and its preview alike. `numeric`: see `numericFields`. */
export function planTable(
  request: Pick<ExportRequest, 'theme' | 'fileName' | 'watermark'>,
  table: Table,
  {
    content,
    template,
    numeric,
  }: { content: Required<SheetContent>; template: Template; numeric: ReadonlySet<number> },
): SheetPlan {
  const title = textOf(content.title)
  return planSheet({
    name: sheetName(request, table, content),
    template,
    title,
    summary: textOf(content.summary),
    header: content.header,
    footer: content.footer,
    theme: request.theme,
    numeric,
    ...(request.watermark && { watermark: watermarkLines(request.watermark) }),
  })
}

/** A table without a name of its own is named after its title, or else after its file. */
export function sheetName(
  { fileName }: Pick<ExportRequest, 'fileName'>,
  { name }: Table,
  { title }: SheetContent,
): string {
  return name ?? (textOf(title)?.trim() || fileName)
}

function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value)
}
