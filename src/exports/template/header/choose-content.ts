import { isDeepStrictEqual } from 'node:util'
import { isNothing } from '../json-shape.ts'

/** What a request or a source's first answer may say of a sheet besides its data. */
export interface SheetContent {
  template?: unknown
  title?: unknown
  summary?: unknown
  header?: unknown
  footer?: unknown
}

/** Whose template counts where both have one. */
export type TemplateFrom = 'request' | 'source'

/**
 * The source knows its data best: whatever it sends wins over the request's, each member by itself. Only the template may be
 * the request's, if that asks for it.
 */
export function chooseContent(
  request: SheetContent,
  source: SheetContent,
  templateFrom: TemplateFrom = 'source',
): Required<SheetContent> {
  const choose = (key: keyof SheetContent) => (isNothing(source[key]) ? request[key] : source[key])
  return {
    template:
      templateFrom === 'request' && !isNothing(request.template) ? request.template : choose('template'),
    title: choose('title'),
    summary: choose('summary'),
    header: choose('header'),
    footer: choose('footer'),
  }
}

/** Said in the result: the request has a template, and the source's is used. */
export function templateOverruled(request: SheetContent, source: SheetContent, from?: TemplateFrom): boolean {
  if (from === 'request' || isNothing(request.template) || isNothing(source.template)) return false
  return !isDeepStrictEqual(request.template, source.template)
}
