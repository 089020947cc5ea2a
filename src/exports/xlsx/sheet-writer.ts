import { awaitedLater, freeMemory, orAborted } from '../../kernel/index.ts'
import { addFacts, noFacts } from '../sheet/index.ts'
import { type ThreadPool, taskFunction } from '../threads/index.ts'
import { MAX_ROWS } from './cell-reference.ts'
import type { EncodedPiece, PieceTask } from './encode/index.ts'
import type { PreparedSheet } from './layout/index.ts'
import { deflate, type PartFile } from './part-file.ts'
import { type CellLink, linkBytes, MAX_LINKS } from './parts/index.ts'
import { type Piece, splitPiece } from './pieces.ts'
import type { EndedHead } from './subtotal-heads.ts'
import type { Volumes } from './volumes.ts'

export const SLICES = taskFunction<PieceTask, EncodedPiece>(import.meta.url, 'slice-work', 'encodeSlice')

/** An entry's size is kept in 32 bits; the rest of the way there is left to the piece and the tail. */
const MAX_SHEET_BYTES = 0xffff_ffff - (256 << 20)
/** Guesses of compressed sizes are raised by this, so that a file rarely turns out too large and is cut anew. */
const CAUTION = 1.03
/** Assumed compression ratio until the first piece has been measured. */
const FIRST_GUESS = 0.4

/** What a file will hold once everything that has been sent is in it. */
interface FilePlan {
  row: number
  /** Until the file is full, and until the sheet is: rows of totals count in the sheet alone. */
  rowsLeft: number
  sheetLeft: number
  bytes: number
  /** No rows yet, of this sheet or another. */
  fresh: boolean
}

interface Dispatched {
  piece: Piece
  firstRow: number
  /** The piece begins a new file. */
  rolls: boolean
  guess: number
  /** What was thought of its file when it was sent. */
  plan: FilePlan
  result: Promise<EncodedPiece>
}

/**
 * Writes one sheet, over as many files as the limits ask for.
 *
 * Pieces are sent to the threads ahead of time, with the row numbers that they will have, and taken back in order. A
 * limit on rows is known when a piece is sent. A limit on bytes is not: whether a piece still fits is guessed from the
 * pieces before it, and a guess that fails costs the pieces on their way, which are sent once more. Sending and taking
 * alternate in one loop, so the guesses, and with them the files, depend on nothing but input and number of threads.
 */
export class SheetWriter {
  readonly #deps: { pool: ThreadPool; volumes: Volumes }
  readonly #sheet: PreparedSheet
  readonly #limits: { maxRows: number; maxBytes: number }
  readonly #signal: AbortSignal
  readonly #pending: Piece[]
  readonly #sent: Dispatched[] = []
  readonly #sheetRows: number

  /** At the taking end: what the present file holds. */
  #part: PartFile | undefined
  #nextRow: number
  /** At the sending end. */
  #plan: FilePlan = { row: 0, rowsLeft: 0, sheetLeft: 0, bytes: 0, fresh: true }
  #bytesPerWeight = FIRST_GUESS

  /** Of the pieces that are in the files. */
  readonly facts: Float64Array
  firstCut: string | null = null
  /** Of the present file. */
  #links: CellLink[] = []
  /** Links that are only texts, because a sheet may have no more. */
  linksLeft = 0
  #linkBytes = 0
  /** Files that have rows of this sheet, so far. */
  #files = 0
  /** First row below the data and its totals, in the last file. */
  endRow = 0
  pictured = 0
  firstPictured: string | null = null
  replaced = 0
  firstReplaced: string | null = null

  constructor(
    deps: { pool: ThreadPool; volumes: Volumes },
    sheet: PreparedSheet,
    { maxRows, maxBytes, signal }: { maxRows: number; maxBytes: number; signal: AbortSignal },
  ) {
    this.#deps = deps
    this.#sheet = sheet
    this.#limits = { maxRows, maxBytes }
    this.#signal = signal
    this.#pending = sheet.pieces.toReversed()
    const { top, bottom, mark } = sheet.plan
    const around = top.rows + bottom.rows + (mark?.rows ?? 0) + (sheet.totals?.rows ?? 0)
    this.#sheetRows = Math.max(1, MAX_ROWS - around)
    this.#nextRow = sheet.plan.top.rows + 1
    this.facts = noFacts(sheet.plan.columns.length)
  }

  async run(onRows: (rows: number) => void): Promise<void> {
    const window = this.#deps.pool.size + 2
    await this.#replan()
    for (;;) {
      this.#signal.throwIfAborted()
      while (this.#sent.length < window && this.#pending.length > 0) this.#send()
      const next = this.#sent.shift()
      if (!next) break
      // Ends at once with the signal; the thread ends its piece for nobody.
      const encoded = await orAborted(next.result, this.#signal)
      if (await this.#take(next, encoded)) onRows(next.piece.source === null ? 0 : next.piece.rows)
    }
    await this.#endSheet(true)
  }

  #send(): void {
    let piece = this.#pending.pop()!
    const { maxBytes } = this.#limits
    const weigh = (weight: number) => weight * this.#bytesPerWeight * CAUTION
    const full = this.#plan.bytes + weigh(piece.weight) + this.#closingBytes() > maxBytes
    const left = () => Math.min(this.#plan.rowsLeft, this.#plan.sheetLeft)
    const rolls = !this.#plan.fresh && (left() <= 0 || full)
    if (rolls) this.#planNewFile()
    const rows = Math.min(left(), this.#rowsThatFit(piece, weigh(piece.weight)))
    if (rows < piece.rows) {
      const [first, rest] = splitPiece(piece, rows)
      this.#pending.push(rest)
      piece = first
    }
    const guess = weigh(piece.weight)
    const plan = this.#plan
    const task = {
      recipe: this.#sheet.recipe,
      source: piece.source,
      rows: piece.rows,
      firstRow: plan.row,
      heads: this.#sheet.labels.cellsAt(piece, plan.row === this.#firstRow),
    }
    const result = awaitedLater(this.#deps.pool.run(SLICES, task, { signal: this.#signal }))
    this.#sent.push({ piece, firstRow: plan.row, rolls, guess, plan, result })
    plan.row += piece.rows + piece.ends.length
    plan.rowsLeft -= piece.rows
    plan.sheetLeft -= piece.rows + piece.ends.length
    plan.bytes += guess
    plan.fresh = false
  }

  get #firstRow(): number {
    return this.#sheet.plan.top.rows + 1
  }

  /** A piece that alone is too large for a file is cut before it is sent. */
  #rowsThatFit(piece: Piece, guess: number): number {
    const room = this.#limits.maxBytes - this.#plan.bytes - this.#closingBytes()
    if (!this.#plan.fresh || guess <= room) return piece.rows
    return Math.max(1, Math.floor((piece.rows * Math.max(room, 0)) / guess))
  }

  /** true: the piece is in the file. false: it did not fit and will be sent again. */
  async #take(next: Dispatched, encoded: EncodedPiece): Promise<boolean> {
    if (next.rolls) await this.#roll()
    const part = await this.#deps.volumes.current()
    const head = this.#part ? 0 : this.#sheet.head.bytes
    const needed = part.bytes + head + encoded.bytes + this.#closingBytes()
    const tooLarge =
      needed > this.#limits.maxBytes || (this.#part?.sheetBytes ?? 0) + encoded.plainBytes > MAX_SHEET_BYTES
    if (tooLarge && (part.rows > 0 || next.piece.rows > 1)) {
      await this.#sendAgain(next, part)
      return false
    }
    if (!this.#part) await this.#beginSheet(part)
    await part.append(encoded)
    freeMemory(...encoded.chunks)
    this.#account(next, encoded, part)
    for (const head of next.piece.ends) await this.#endHead(head, part, false)
    return true
  }

  #account({ piece, firstRow, guess, plan }: Dispatched, encoded: EncodedPiece, part: PartFile): void {
    part.rows += piece.rows
    if (piece.source) part.dataRows += piece.rows
    this.#sheet.labels.extend(piece.group, firstRow, firstRow + piece.rows - 1)
    this.#nextRow = firstRow + piece.rows
    this.#sheet.totals?.add(piece.group, { first: firstRow, last: this.#nextRow - 1, totals: encoded.totals })
    plan.bytes += encoded.bytes - guess
    this.#bytesPerWeight = encoded.bytes / Math.max(1, piece.weight)
    addFacts(this.facts, encoded.facts)
    this.firstCut ??= encoded.firstCut
    const room = MAX_LINKS - this.#links.length
    if (encoded.links.length > 0) this.#links = this.#links.concat(encoded.links.slice(0, room))
    this.linksLeft += Math.max(0, encoded.links.length - room)
    this.#linkBytes = linkBytes(this.#links)
    this.pictured += encoded.pictured
    this.firstPictured ??= encoded.firstPictured
    this.replaced += encoded.replaced
    this.firstReplaced ??= encoded.firstReplaced
  }

  /** A file that is at least half full is ended before the piece; otherwise the piece is halved. */
  async #sendAgain(next: Dispatched, part: PartFile): Promise<void> {
    for (const { piece } of this.#sent.splice(0).reverse()) this.#pending.push(piece)
    if (part.rows > 0 && (next.piece.rows === 1 || part.bytes > this.#limits.maxBytes / 2)) {
      this.#pending.push(next.piece)
      await this.#roll()
    } else {
      const [first, rest] = splitPiece(next.piece, Math.ceil(next.piece.rows / 2))
      this.#pending.push(rest, first)
    }
    await this.#replan()
  }

  async #beginSheet(part: PartFile): Promise<void> {
    this.#sheet.labels.startFile()
    this.#sheet.totals?.startFile()
    await part.beginSheet(this.#sheet.name, this.#sheet.head)
    this.#part = part
    this.#files += 1
  }

  async #endSheet(bottom: boolean): Promise<void> {
    if (!this.#part) await this.#beginSheet(await this.#deps.volumes.current())
    const part = this.#part!
    const { tail, names, totals } = this.#sheet
    // A row header that goes on in the next file has a subtotal in each.
    for (const head of totals?.openHeads() ?? []) await this.#endHead(head, part, !bottom)
    const dataEnd = this.#nextRow
    if (totals) {
      const isWhole = bottom && this.#files === 1
      await part.append(deflate(totals.endFile(dataEnd, isWhole ? undefined : this.#files)))
      this.#nextRow += 1
    }
    const links = this.#links
    this.endRow = this.#nextRow
    const xml = tail({ nextRow: this.#nextRow, dataEnd, bottom, links })
    await part.endSheet(xml, { names: names(dataEnd), links })
    this.#links = []
    this.#linkBytes = 0
    this.#part = undefined
    this.#nextRow = this.#firstRow
  }

  async #endHead(head: EndedHead, part: PartFile, goesOn: boolean): Promise<void> {
    const place = { part: this.#files, goesOn }
    await part.append(deflate(this.#sheet.totals!.endHead(head, this.#nextRow, place)))
    this.#nextRow += 1
  }

  /** Ends the present file. Where this sheet has not begun in it, it belongs to the sheets before. */
  async #roll(): Promise<void> {
    if (this.#part) await this.#endSheet(false)
    await this.#deps.volumes.next()
  }

  /** Sets the sending end to what has been taken. */
  async #replan(): Promise<void> {
    const part = await this.#deps.volumes.current()
    const used = this.#nextRow - this.#firstRow
    this.#plan = {
      row: this.#nextRow,
      rowsLeft: this.#limits.maxRows - part.rows,
      sheetLeft: this.#sheetRows - used,
      bytes: part.bytes + (this.#part ? 0 : this.#sheet.head.bytes),
      fresh: part.rows === 0,
    }
  }

  #planNewFile(): void {
    this.#plan = {
      row: this.#firstRow,
      rowsLeft: this.#limits.maxRows,
      sheetLeft: this.#sheetRows,
      bytes: this.#sheet.emptyBytes,
      fresh: true,
    }
  }

  /** What the sheet's end may take: footer and merges, as if they did not compress. */
  #closingBytes(): number {
    return this.#sheet.closingBytes + this.#sheet.labels.count * 32 + this.#linkBytes
  }
}
