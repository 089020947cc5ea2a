import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts small secrets before they reach the ledger (AES-256-GCM, a fresh nonce each). */
export class Sealer {
  readonly #key: Buffer
  readonly #older: readonly Buffer[]

  /** `older` secrets open what was sealed with them, and seal nothing any more. */
  constructor(secret: string, older: readonly string[] = []) {
    this.#key = keyOf(secret)
    this.#older = older.map(keyOf)
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** Throws when the text was sealed with another key or changed since. */
  open(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      return openWith(this.#key, bytes)
    } catch (error) {
      const opened = this.#older.map((key) => tryOpen(key, bytes)).find((text) => text !== undefined)
      if (opened === undefined) throw error
      return opened
    }
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'wharf seal v1', 32))
}

function tryOpen(key: Buffer, bytes: Buffer): string | undefined {
  try {
    return openWith(key, bytes)
  } catch {
    return undefined
  }
}

function openWith(key: Buffer, bytes: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
