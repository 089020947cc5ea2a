import type { SchemaElement } from 'hyparquet-writer'
import type { ColumnKind } from './column-kind.ts'

export interface ParquetColumn {
  name: string
  kind: ColumnKind
}

/** Digits that 64 bits always hold. */
const INT64_DIGITS = 18

export function schemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [{ name: 'schema', num_children: columns.length }, ...columns.map(elementOf)]
}

/** As it is in the file: JSON also has the older annotation, by which the library would encode the bytes once more. */
export function footerSchemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return schemaOf(columns).map((element) =>
    element.logical_type?.type === 'JSON' ? { ...element, converted_type: 'JSON' } : element,
  )
}

function elementOf({ name, kind }: ParquetColumn): SchemaElement {
  const base = { name, repetition_type: 'OPTIONAL' } as const
  switch (kind.is) {
    case 'text':
      return { ...base, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }
    case 'json':
      return { ...base, type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } }
    case 'boolean':
      return { ...base, type: 'BOOLEAN' }
    case 'int64':
      return { ...base, type: 'INT64' }
    case 'double':
      return { ...base, type: 'DOUBLE' }
    case 'date':
      return { ...base, type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }
    case 'timestamp':
      return {
        ...base,
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: kind.utc, unit: 'MICROS' },
        // The older annotation means UTC.
        ...(kind.utc && { converted_type: 'TIMESTAMP_MICROS' as const }),
      }
    case 'decimal': {
      const { precision, scale } = kind
      const decimal = { converted_type: 'DECIMAL', precision, scale } as const
      if (precision <= INT64_DIGITS) return { ...base, type: 'INT64', ...decimal }
      return { ...base, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...decimal }
    }
  }
}
