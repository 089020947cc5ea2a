export { FILL, MARK_WORDS, MARKS, markKind, XML, XML_VIEW } from './row-buffer.ts'
export { RowDeflater } from './row-deflater.ts'
