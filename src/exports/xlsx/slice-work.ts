import { compileCondition } from '../condition/index.ts'
import type { Made } from '../threads/index.ts'
import { type EncodedPiece, PieceEncoder, type PieceTask } from './encode/index.ts'

// Loads nothing but what encoding needs: a thread's start is part of every first export's time.
const encoder = new PieceEncoder(compileCondition)

/** Spool slices to compressed sheet XML, in a thread. */
export function encodeSlice(task: PieceTask): Made<EncodedPiece> {
  const result = encoder.encode(task)
  return { result, transfer: [...new Set(result.chunks.map((chunk) => chunk.buffer as ArrayBuffer))] }
}
