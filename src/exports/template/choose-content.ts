import { isNothing } from './json-shape.ts'

/** What a request or a source's first answer may say of a sheet besides its data. */
export interface SheetContent {
  template?: unknown
  title?: unknown
  summary?: unknown
  header?: unknown
  footer?: unknown
}

/** The source knows its data best: whatever it sends wins over the request's, each member by itself. */
export function chooseContent(request: SheetContent, source: SheetContent): Required<SheetContent> {
  const choose = (key: keyof SheetContent) => (isNothing(source[key]) ? request[key] : source[key])
  return {
    template: choose('template'),
    title: choose('title'),
    summary: choose('summary'),
    header: choose('header'),
    footer: choose('footer'),
  }
}
