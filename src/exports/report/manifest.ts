import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { type Static, Type } from 'typebox'

export const MANIFEST_FORMAT = 'wharf-manifest-1'

type ManifestSignature = Static<typeof ManifestSignature>
const ManifestSignature = Type.Object({
  algorithm: Type.String(),
  key_id: Type.String(),
  public_key: Type.String(),
  value: Type.String({ description: 'of everything else as canonical JSON (RFC 8785), base64url' }),
})

export type Signed<T> = T & { signature: ManifestSignature }

/** The report with its signature. The signature covers all members, so none is left out of an answer. */
export const ExportManifest = Type.Object(
  { format: Type.String(), signature: ManifestSignature },
  { title: 'ExportManifest', additionalProperties: true },
)

/** The answer of `/.well-known/wharf-keys`: a set of JSON Web Keys (RFC 7517, RFC 8037). */
export type PublicKeys = Static<typeof PublicKeys>
export const PublicKeys = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        crv: Type.Optional(Type.String()),
        x: Type.Optional(Type.String()),
        kid: Type.Optional(Type.String()),
        use: Type.Optional(Type.String()),
        alg: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'ManifestKeys' },
)

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
