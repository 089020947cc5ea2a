import { createHash, type KeyObject, sign } from 'node:crypto'
import { bits, boolean, integer, objectId, octets, sequence, set, tagged, time, utf8 } from './der.ts'

/**
 * X.509 v3 certificates (RFC 5280), signed with ECDSA and SHA-256. Node reads certificates but makes none, and the
 * swarm needs two kinds only: its own authority, and a leaf that names one peer.
 */
export interface CertificateOrder {
  serial: Buffer
  subject: string
  issuer: string
  /** What the leaf may be known by; an authority has none. */
  uri?: string
  publicKey: KeyObject
  /** The authority's own key. */
  issuerKey: { publicKey: KeyObject; privateKey: KeyObject }
  notBefore: Date
  notAfter: Date
}

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const COMMON_NAME = objectId('2.5.4.3')
const SUBJECT_KEY_ID = objectId('2.5.29.14')
const KEY_USAGE = objectId('2.5.29.15')
const SUBJECT_ALT_NAME = objectId('2.5.29.17')
const BASIC_CONSTRAINTS = objectId('2.5.29.19')
const AUTHORITY_KEY_ID = objectId('2.5.29.35')
const EXTENDED_KEY_USAGE = objectId('2.5.29.37')
const SERVER_AND_CLIENT = sequence(objectId('1.3.6.1.5.5.7.3.1'), objectId('1.3.6.1.5.5.7.3.2'))
/** digitalSignature, the first of the flags. */
const MAY_SIGN = bits(Buffer.from([0x80]), 7)
/** keyCertSign and cRLSign, the sixth and seventh. */
const MAY_CERTIFY = bits(Buffer.from([0x06]), 1)

export function buildCertificate(order: CertificateOrder): string {
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(order.serial),
    ECDSA_WITH_SHA256,
    name(order.issuer),
    sequence(time(order.notBefore), time(order.notAfter)),
    name(order.subject),
    spki(order.publicKey),
    tagged(0xa3, sequence(...extensions(order))),
  )
  const signature = sign('sha256', body, order.issuerKey.privateKey)
  return pem(sequence(body, ECDSA_WITH_SHA256, bits(signature)))
}

function extensions({ uri, publicKey, issuerKey }: CertificateOrder): Buffer[] {
  const known = [
    extension(SUBJECT_KEY_ID, false, octets(keyId(publicKey))),
    extension(AUTHORITY_KEY_ID, false, sequence(tagged(0x80, keyId(issuerKey.publicKey)))),
  ]
  if (uri === undefined) {
    return [
      extension(BASIC_CONSTRAINTS, true, sequence(boolean(true), integer(Buffer.from([0])))),
      extension(KEY_USAGE, true, MAY_CERTIFY),
      ...known,
    ]
  }
  return [
    extension(BASIC_CONSTRAINTS, true, sequence()),
    extension(KEY_USAGE, true, MAY_SIGN),
    extension(EXTENDED_KEY_USAGE, false, SERVER_AND_CLIENT),
    extension(SUBJECT_ALT_NAME, false, sequence(tagged(0x86, Buffer.from(uri, 'ascii')))),
    ...known,
  ]
}

function extension(id: Buffer, critical: boolean, value: Buffer): Buffer {
  return critical ? sequence(id, boolean(true), octets(value)) : sequence(id, octets(value))
}

function name(commonName: string): Buffer {
  return sequence(set(sequence(COMMON_NAME, utf8(commonName))))
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(spki(key)).digest().subarray(0, 20)
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
