export { jsonLines } from './write-jsonl.ts'
