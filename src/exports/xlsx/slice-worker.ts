import { parentPort } from 'node:worker_threads'
import { compileCondition } from '../template/compile-condition.ts'
import { type EncodedPiece, PieceEncoder, type PieceTask } from './encode/encode-piece.ts'
import { SpoolBroken } from './encode/spool-broken.ts'

export interface WorkerRequest {
  id: number
  task: PieceTask
}

export type WorkerAnswer =
  | { id: number; piece: EncodedPiece }
  | { id: number; failure: { broken: boolean; message: string } }

// Loads nothing but what encoding needs: a thread's start is part of every first export's time.
const port = parentPort
if (port === null) throw new Error('slice-worker runs as a worker thread only')
const encoder = new PieceEncoder(compileCondition)

port.on('message', ({ id, task }: WorkerRequest) => {
  try {
    const piece = encoder.encode(task)
    const answer: WorkerAnswer = { id, piece }
    port.postMessage(answer, [...new Set(piece.chunks.map((chunk) => chunk.buffer as ArrayBuffer))])
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const answer: WorkerAnswer = { id, failure: { broken: error instanceof SpoolBroken, message } }
    port.postMessage(answer)
  }
})
