import { readFile } from 'node:fs/promises'
import { exportToFolder, type LocalExport } from '../../../../src/app/export.ts'
import type { HttpSource } from '../../../../src/exports/index.ts'
import { temporaryFolder } from '../../../support/wharf-process.ts'

type Wishes = LocalExport['wishes']

/** Makes a file of a source with the whole pipeline, and no server. */
export async function exportSource(
  source: HttpSource,
  wishes: Wishes = {},
  more: Partial<Pick<LocalExport, 'directory' | 'onProgress' | 'signal'>> & { allowHosts?: string } = {},
) {
  const { allowHosts, ...options } = more
  const made = await exportToFolder({
    source: { url: source.url, headers: {}, allowHosts },
    http: source,
    wishes: { csv: { bom: false }, ...wishes },
    directory: temporaryFolder(),
    excel: { maxRows: 800_000, maxBytes: 10_485_760 },
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onWarning: () => undefined,
    ...options,
  })
  const bytes = await readFile(made.path)
  const warnings = made.warnings.map(({ message }) => message)
  return { ...made, warnings, bytes, lines: bytes.toString().replace(/\r\n$/, '').split('\r\n') }
}

/** The values of one column of a CSV file. */
export function columnOf(lines: readonly string[], column: string): string[] {
  const [head = '', ...rows] = lines
  const place = head.split(',').indexOf(`"${column}"`)
  return rows.map((row) => row.split(',')[place] ?? '')
}
