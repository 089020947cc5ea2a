import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { counted, openFile } from '../../kernel/index.ts'
import { Hashed } from '../../storage/index.ts'

/** A file of a backup, with what proves that it is whole. */
export interface Piece {
  name: string
  bytes: number
  sha256: string
}

const CHUNK_CHARACTERS = 64 * 1024

export async function writePiece(
  folder: string,
  name: string,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Piece> {
  // A stream of a file has a path, which is not to be read a second time.
  const hashed = new Hashed(chunksOf(source), signal)
  const handle = await openFile(join(folder, name), 'wx')
  try {
    await handle.writeFile(hashed)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { name, bytes: hashed.size, sha256: hashed.sha256() }
}

async function* chunksOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* source
}

/** One JSON object per line, compressed. */
export async function writeRows(
  folder: string,
  name: string,
  rows: AsyncIterable<object> | Iterable<object>,
  signal: AbortSignal,
): Promise<Piece & { rows: number }> {
  let count = 0
  async function* lines() {
    let text = ''
    for await (const row of rows) {
      text += `${JSON.stringify(row)}\n`
      count++
      if (text.length < CHUNK_CHARACTERS) continue
      yield text
      text = ''
    }
    yield text
  }
  const piece = await pipeline(Readable.from(lines()), createGzip(), (source: AsyncIterable<Uint8Array>) =>
    writePiece(folder, name, source, signal),
  )
  return { ...piece, rows: count }
}

export async function* readRows<T>(folder: string, name: string): AsyncGenerator<T> {
  const file = createReadStream(join(folder, name))
  const text = createGunzip().setEncoding('utf8')
  file.once('error', (error) => text.destroy(error))
  file.pipe(text)
  try {
    let rest = ''
    for await (const chunk of text as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as T
    }
  } finally {
    file.destroy()
  }
}

/** What is wrong with a piece; undefined: nothing. */
export async function faultOf(
  folder: string,
  { name, bytes, sha256 }: Piece,
  signal: AbortSignal,
): Promise<string | undefined> {
  const hashed = new Hashed({ path: join(folder, name) }, signal)
  try {
    for await (const _chunk of hashed);
  } catch (error) {
    signal.throwIfAborted()
    return `${name} cannot be read (${(error as Error).message})`
  }
  if (hashed.size !== bytes) return `${name} has ${counted(hashed.size, 'byte')}, not ${bytes}`
  return hashed.sha256() === sha256 ? undefined : `${name} was changed: its checksum is another one`
}
