/** What an export can be written as. */
export const EXPORT_TYPES = ['csv', 'excel', 'jsonl', 'parquet'] as const
export type ExportType = (typeof EXPORT_TYPES)[number]
