export { COMPRESSED, COMPRESSIONS, type Compression, writeCompressed } from './compress.ts'
export { inOrder } from './in-order.ts'
export { EMPTY, FALSE, JSON_TEXT, NULL, NUMBER, RecordReader, TEXT, TRUE } from './record-reader.ts'
export { type RecordSlice, SliceMemory, slicesOf } from './slices.ts'
