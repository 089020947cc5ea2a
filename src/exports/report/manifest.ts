import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

export const MANIFEST_FORMAT = 'wharf-manifest-1'

export interface ManifestSignature {
  algorithm: 'Ed25519'
  key_id: string
  /** base64url */
  public_key: string
  /** base64url; of the rest of the manifest as canonical JSON (RFC 8785). */
  value: string
}

export type Signed<T> = T & { signature: ManifestSignature }

/** A public key as `/.well-known/wharf-keys` shows it: a set of JSON Web Keys (RFC 7517, RFC 8037). */
export interface PublicKeys {
  keys: { kty: string; crv?: string; x?: string; kid?: string; use?: string; alg?: string }[]
}

/** Signs what an installation says of its files, so that it can be checked where the installation cannot be asked. */
export class ManifestSigner {
  readonly #key: KeyObject
  readonly #public: string
  readonly #id: string

  /** PKCS #8 in base64. */
  constructor(pkcs8: string) {
    this.#key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
    this.#public = createPublicKey(this.#key).export({ format: 'jwk' }).x as string
    this.#id = keyId(this.#public)
  }

  sign<T extends object>(manifest: T): Signed<T> {
    const value = sign(null, Buffer.from(canonicalJson(manifest)), this.#key).toString('base64url')
    return {
      ...manifest,
      signature: { algorithm: 'Ed25519', key_id: this.#id, public_key: this.#public, value },
    }
  }

  get publicKeys(): PublicKeys {
    return {
      keys: [{ kty: 'OKP', crv: 'Ed25519', x: this.#public, kid: this.#id, use: 'sig', alg: 'EdDSA' }],
    }
  }
}

/** For people and programs to keep; without a signer it proves nothing but that a file is whole. */
export function manifestText(manifest: object, signer?: ManifestSigner): string {
  const named = { format: MANIFEST_FORMAT, ...manifest }
  return `${JSON.stringify(signer ? signer.sign(named) : named, null, 2)}\n`
}

/** Whether the signature was made by the key that it names itself. Whose key that is, is another question. */
export function isGenuine({ signature, ...manifest }: Signed<object>): boolean {
  if (signature.algorithm !== 'Ed25519' || keyId(signature.public_key) !== signature.key_id) return false
  try {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: signature.public_key },
      format: 'jwk',
    })
    const value = Buffer.from(signature.value, 'base64url')
    return verify(null, Buffer.from(canonicalJson(manifest)), key, value)
  } catch {
    return false
  }
}

export function isAmong({ public_key }: ManifestSignature, { keys }: PublicKeys): boolean {
  return keys.some(({ kty, crv, x }) => kty === 'OKP' && crv === 'Ed25519' && x === public_key)
}

/** RFC 7638: the same key has the same id everywhere. */
function keyId(x: string): string {
  return createHash('sha256')
    .update(`{"crv":"Ed25519","kty":"OKP","x":${JSON.stringify(x)}}`)
    .digest('base64url')
}

/** RFC 8785: keys in the order of their UTF-16 code units, no blanks. Numbers and texts are as JavaScript writes them. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join()}}`
}
