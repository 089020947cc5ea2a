import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FetchOptions } from '../../../../src/exports/sources/fetch/fetch-to-spool.ts'
import { fetchToSpool, type Spool } from '../../../../src/exports/sources/index.ts'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'
import { PatientClock } from './patient-clock.ts'

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-spool-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Fetches into a new folder, unless told otherwise, with the columns of `sampleRows`. */
export async function fetchSample(
  source: PageSource,
  options: Partial<FetchOptions> = {},
  clock = new PatientClock(),
): Promise<Spool> {
  return fetchToSpool(
    { source, clock },
    {
      directory: options.directory ?? (await temporaryFolder()),
      columnsOf: () => ({ fields: ['id', 'name', 'amount'] }),
      pageSize: 100,
      signal: new AbortController().signal,
      ...options,
    },
  )
}

/** What it warns of, in English. */
export function warnedOf({ warnings }: Pick<Spool, 'warnings'>): string[] {
  return warnings.map(({ message }) => message)
}

export function textOf({ segments }: Pick<Spool, 'segments'>, group?: string): string {
  return segments
    .filter((segment) => group === undefined || segment.group === group)
    .map((segment) => readFileSync(segment.path, 'utf8'))
    .join('')
}
