export { RowDeflater } from './row-deflater.ts'
export { MARK_WORDS, MARKS, markKind } from './row-marks.ts'
export { FILL, XML, XML_VIEW } from './xml-buffer.ts'
