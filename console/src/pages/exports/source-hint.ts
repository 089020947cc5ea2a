import type { TFunction } from 'i18next'

/** Words for the request of a program, and the place of the form that does the same. */
const PLACES: [code: string, words: RegExp, hint: 'other_api' | 'sign_in'][] = [
  ['SOURCE_SHAPE', /"kind": "http"/, 'other_api'],
  ['SOURCE_STATUS', /does it need credentials\?/, 'sign_in'],
]

/** The server's detail names fields of the API. Where the form has a place for them, this says where, as the form calls it. */
export function sourceHint(t: TFunction, error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const place = PLACES.find(([of, words]) => code === of && words.test(String(message)))
  if (!place) return undefined
  const tab = t('make.source.kind.http')
  return t(`make.source_hint.${place[2]}`, { tab, section: t('make.access.title') })
}
