import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { damaged as damagedFile } from '../damaged.ts'

/**
 * How an encrypted artifact is stored:
 *
 *     "WHARFAE1" | salt (32 bytes) | record 0 | record 1 | … | last record
 *
 * A record is 64 KiB of the file under AES-256-GCM and its tag; the last one may be shorter, and is empty only if the file is. Each
 * file has a key of its own, made of the installation's key, the salt and the artifact's key, so a file cannot take another's
 * place. The nonce is the record's number and whether it is the last: records cannot be swapped, repeated, left out or cut off.
 */
const MAGIC = Buffer.from('WHARFAE1')
export const SALT_BYTES = 32
export const HEADER_BYTES = MAGIC.length + SALT_BYTES
export const CHUNK_BYTES = 64 * 1024
export const TAG_BYTES = 16
export const RECORD_BYTES = CHUNK_BYTES + TAG_BYTES
const NONCE_BYTES = 12

export function headerOf(salt: Buffer): Buffer {
  return Buffer.concat([MAGIC, salt])
}

export function saltOf(header: Buffer): Buffer {
  if (header.length !== HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC))
    throw damaged('its beginning is not that of an encrypted file')
  return header.subarray(MAGIC.length)
}

/** The key of one file. */
export function fileKey(master: Buffer, salt: Buffer, artifactKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, salt, `wharf file v1 ${artifactKey}`, 32))
}

/** Of how many records with how many bytes a stored file of this size consists. */
export function layoutOf(storedSize: number): { records: number; size: number } {
  const body = storedSize - HEADER_BYTES
  const records = Math.ceil(body / RECORD_BYTES)
  const last = body - (records - 1) * RECORD_BYTES
  if (body < TAG_BYTES || last < TAG_BYTES || (last === TAG_BYTES && records > 1))
    throw damaged(`no encrypted file has ${storedSize} bytes`)
  return { records, size: body - records * TAG_BYTES }
}

/** Where the records `first` to `last` are in the stored file, both ends counting. */
export function placeOf(first: number, last: number): { start: number; end: number } {
  return { start: HEADER_BYTES + first * RECORD_BYTES, end: HEADER_BYTES + (last + 1) * RECORD_BYTES - 1 }
}

export function sealRecord(key: Buffer, index: number, isLast: boolean, chunk: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast))
  const sealed = cipher.update(chunk)
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()])
}

export function openRecord(key: Buffer, index: number, isLast: boolean, record: Buffer): Buffer {
  const end = record.length - TAG_BYTES
  if (end < 0) throw damaged(`record ${index} is cut off`)
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast))
  decipher.setAuthTag(record.subarray(end))
  const chunk = decipher.update(record.subarray(0, end))
  try {
    decipher.final()
  } catch (cause) {
    throw damaged(`record ${index} was changed, or is not of this file`, cause)
  }
  return chunk
}

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(index, 0, 6)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

export function damaged(why: string, cause?: unknown): Error {
  return damagedFile(`the stored file cannot be decrypted: ${why}`, cause)
}
