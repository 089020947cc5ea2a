export { inOrder } from './in-order.ts'
export * from './record-reader.ts'
export { type RecordSlice, readSlice, slicesOf } from './slices.ts'
