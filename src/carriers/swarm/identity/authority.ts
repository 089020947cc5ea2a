import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { Clock } from '../../../kernel/index.ts'
import {
  type Credentials,
  issueTicket,
  type Order,
  type PeerId,
  type PeerTicket,
  signOrder,
  signText,
  type ToAgent,
  type Trust,
  welcomeText,
} from '../wire/index.ts'
import { buildCertificate } from './certificate.ts'

const DAY = 86_400_000
const AUTHORITY_DAYS = 3650
/** A leaf is issued at every connect and renewed at half its life, so it need not last. */
export const LEAF_MS = 2 * DAY
/** Of tickets and orders: both are made anew whenever they are sent. */
const SIGNED_MS = 10 * 60_000
const AUTHORITY_NAME = 'Wharf swarm authority'

/** What one installation keeps, sealed: every instance certifies with the same keys. */
interface Kept {
  authorityKey: string
  authorityCertificate: string
  signingKey: string
}

const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string

/** Says who is who in the swarm: certifies peers, signs tickets and orders. */
export class SwarmAuthority {
  readonly #clock: Clock
  readonly #key: KeyObject
  readonly #signingKey: KeyObject
  readonly certificate: string

  constructor(clock: Clock, kept: string) {
    const { authorityKey, authorityCertificate, signingKey } = JSON.parse(kept) as Kept
    this.#clock = clock
    this.#key = createPrivateKey(authorityKey)
    this.#signingKey = createPrivateKey(signingKey)
    this.certificate = authorityCertificate
  }

  /** New keys, as the text that `SwarmAuthority` is made from. */
  static make(clock: Clock): string {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const kept: Kept = {
      authorityKey: pem(privateKey),
      authorityCertificate: buildCertificate({
        serial: newSerial(),
        subject: AUTHORITY_NAME,
        issuer: AUTHORITY_NAME,
        publicKey,
        issuerKey: { publicKey, privateKey },
        notBefore: new Date(clock.now() - DAY),
        notAfter: new Date(clock.now() + AUTHORITY_DAYS * DAY),
      }),
      signingKey: pem(generateKeyPairSync('ed25519').privateKey),
    }
    return JSON.stringify(kept)
  }

  get verifyKey(): KeyObject {
    return createPublicKey(this.#signingKey)
  }

  get verifyKeyPem(): string {
    return this.verifyKey.export({ type: 'spki', format: 'pem' }) as string
  }

  certify(id: PeerId, publicKey: KeyObject): string {
    const authority = createPublicKey(this.#key)
    return buildCertificate({
      serial: newSerial(),
      subject: 'Wharf swarm peer',
      issuer: AUTHORITY_NAME,
      uri: id,
      publicKey,
      issuerKey: { publicKey: authority, privateKey: this.#key },
      notBefore: new Date(this.#clock.now() - DAY),
      notAfter: new Date(this.#clock.now() + LEAF_MS),
    })
  }

  /** A new key and its certificate, for a peer in this process. */
  credentials(id: PeerId): Credentials {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const certificate = this.certify(id, publicKey)
    return {
      id,
      key: pem(privateKey),
      certificate,
      authority: this.certificate,
      verifyKey: this.verifyKey,
    }
  }

  /** What agents pin when they are enrolled. */
  get trust(): Trust {
    return { authority: this.certificate, verifyKey: this.verifyKeyPem }
  }

  welcome(
    { id, publicKey, nonce }: { id: PeerId; publicKey: KeyObject; nonce: string },
    revoked: string[],
  ): Extract<ToAgent, { type: 'welcome' }> {
    const welcome = { certificate: this.certify(id, publicKey), now: this.#clock.now(), revoked }
    return {
      type: 'welcome',
      ...welcome,
      signature: signText(this.#signingKey, 'welcome', welcomeText(welcome, nonce)),
    }
  }

  ticket(ticket: Omit<PeerTicket, 'expiresAt'>): string {
    return issueTicket(this.#signingKey, { ...ticket, expiresAt: this.#clock.now() + SIGNED_MS })
  }

  order(order: Omit<Order, 'expiresAt'>): { order: string; signature: string } {
    return signOrder(this.#signingKey, { ...order, expiresAt: this.#clock.now() + SIGNED_MS })
  }
}

function newSerial(): Buffer {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}
