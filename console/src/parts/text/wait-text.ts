import type { TFunction } from 'i18next'
import type { ExportTask } from '../../api/exports.ts'

interface Wait {
  what: NonNullable<ExportTask['waiting_for']>['what']
  code?: string
}

/** What a piece of work waits for and what happens next, in one line. Of a source its code says what was wrong with it. */
export function waitText(t: TFunction, { what, code = '' }: Wait): string {
  if (what !== 'source') return t(`exports.waits_for.${what}`)
  return t('exports.asks_again', { trouble: t(`exports.source_trouble.${TROUBLES[code] ?? 'other'}`) })
}

const TROUBLES: Record<string, 'host' | 'connect' | 'cut' | 'silent' | 'status' | 'stalled' | 'answer'> = {
  HOST_UNRESOLVED: 'host',
  CONNECT_FAILED: 'connect',
  SOURCE_UNREACHABLE: 'connect',
  CONNECTION_LOST: 'cut',
  HTTP_TIMEOUT: 'silent',
  SOURCE_TOO_SLOW: 'silent',
  SOURCE_STATUS: 'status',
  HTTP_STATUS: 'status',
  SOURCE_ERROR: 'status',
  SOURCE_STALLED: 'stalled',
  HTTP_MALFORMED: 'answer',
  BODY_ENCODING_BROKEN: 'answer',
  SOURCE_NOT_JSON: 'answer',
  SOURCE_SHAPE: 'answer',
  SOURCE_SHORT_PAGE: 'answer',
  SOURCE_LONG_PAGE: 'answer',
}
