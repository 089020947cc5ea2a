import type { CsvDialect } from './dialect.ts'
import { FieldWriter } from './field-writer.ts'
import { encodeText } from './text-encoder.ts'

/** One record of texts, with as many fields as the others have. */
export function csvRecord(
  texts: readonly string[],
  { dialect, fields }: { dialect: CsvDialect; fields: number },
): Uint8Array {
  const writer = new FieldWriter(dialect)
  const empty = Array.from({ length: Math.max(0, fields - texts.length) }, () => writer.nothing)
  const record = writer.record([...texts.map((text) => writer.text(text)), ...empty])
  return encodeText(record, dialect.encoding).bytes
}
