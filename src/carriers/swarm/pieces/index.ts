export { ArrivingPiece, BadPiece } from './arriving-piece.ts'
export type { Holding, HoldingWatcher, LivePiece } from './holding.ts'
export {
  connectParent,
  type ParentLine,
  ParentRefused,
  receiveBlock,
  receiveHead,
  receivePiece,
} from './piece-client.ts'
export { ackFrame, requestLine } from './piece-frame.ts'
export { PieceServer } from './piece-server.ts'
export { RateLimit } from './rate-limit.ts'
