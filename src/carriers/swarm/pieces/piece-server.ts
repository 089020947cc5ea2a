import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { Log } from '../../../kernel/index.ts'
import { type Credentials, keyIdOf, openTicket, type PeerId, peerIdOf, tlsOptions } from '../wire/index.ts'
import { Feed } from './feed.ts'
import type { Holding } from './holding.ts'
import { type PieceRequest, readRequest, refusalFrame } from './piece-frame.ts'
import type { RateLimit } from './rate-limit.ts'

export interface PieceServerDeps {
  /** Undefined: not known yet; until `renew` nobody is let in. */
  credentials: Credentials | undefined
  /** May take a moment: a child can ask before its parent has opened the file. */
  find(task: string): Promise<Holding | undefined>
  /** The server's clock, by which tickets end. */
  now(): number
  upload: RateLimit
  log: Log
}

const REQUEST_WITHIN_MS = 10_000

/** Gives pieces to children that show a ticket for exactly this file, this parent and themselves. */
export class PieceServer {
  readonly #deps: PieceServerDeps
  readonly #server: Server
  readonly #feeds = new Map<TLSSocket, Feed>()
  readonly #sockets = new Set<TLSSocket>()
  readonly #revoked = new Set<string>()
  #credentials: Credentials | undefined
  #bytesSent = 0
  readonly #taskOf = new Map<TLSSocket, string>()
  /** Of connections that have closed, by task. */
  readonly #sentFor = new Map<string, number>()

  constructor(deps: PieceServerDeps) {
    this.#deps = deps
    this.#credentials = deps.credentials
    this.#server = createServer(
      {
        ...(deps.credentials && tlsOptions(deps.credentials)),
        requestCert: true,
        rejectUnauthorized: true,
        noDelay: true,
      },
      (socket) => this.#serve(socket),
    )
    this.#server.on('tlsClientError', (error) => deps.log.debug({ err: error }, 'a peer was not let in'))
  }

  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, resolve)
    })
    return this.port
  }

  get port(): number {
    const address = this.#server.address()
    if (!address || typeof address === 'string') throw new Error('the piece server is not listening')
    return address.port
  }

  /** Bytes of files and frames that left, before encryption. */
  get bytesSent(): number {
    let open = 0
    for (const socket of this.#sockets) open += socket.bytesWritten
    return this.#bytesSent + open
  }

  /** The same for one task, from its first piece on until it is forgotten. */
  bytesSentFor(task: string): number {
    let open = 0
    for (const [socket, other] of this.#taskOf) if (other === task) open += socket.bytesWritten
    return (this.#sentFor.get(task) ?? 0) + open
  }

  forget(task: string): void {
    this.#sentFor.delete(task)
    for (const [socket, other] of this.#taskOf) if (other === task) this.#taskOf.delete(socket)
  }

  renew(credentials: Credentials): void {
    this.#credentials = credentials
    this.#server.setSecureContext(tlsOptions(credentials))
  }

  /** Peers with these keys are let in no more, whatever certificate they show, and lose the lines that they have. */
  revoke(keys: readonly string[]): void {
    for (const key of keys) this.#revoked.add(key)
    for (const socket of this.#sockets) if (this.#isRevoked(socket)) socket.destroy()
  }

  #isRevoked(socket: TLSSocket): boolean {
    if (this.#revoked.size === 0) return false
    const certificate = socket.getPeerX509Certificate()
    return certificate === undefined || this.#revoked.has(keyIdOf(certificate.publicKey))
  }

  feedsOf(task: string): Feed[] {
    return [...this.#feeds.values()].filter((feed) => feed.task === task)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: TLSSocket): void {
    if (this.#isRevoked(socket)) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.setKeepAlive(true, 10_000)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#feeds.delete(socket)
      this.#bytesSent += socket.bytesWritten
      const task = this.#taskOf.get(socket)
      this.#taskOf.delete(socket)
      if (task !== undefined) this.#sentFor.set(task, (this.#sentFor.get(task) ?? 0) + socket.bytesWritten)
      feed?.stop()
    })
    const late = setTimeout(() => socket.destroy(), REQUEST_WITHIN_MS)
    let head: Buffer = Buffer.alloc(0)
    let request: PieceRequest | undefined
    let feed: Feed | undefined
    const refuse = (error: Error) => socket.end(refusalFrame(error.message))
    socket.on('data', (bytes: Buffer) => {
      // Nobody acknowledges anything before there is a feed.
      if (request) return feed?.acknowledged(bytes)
      head = Buffer.concat([head, bytes])
      try {
        request = readRequest(head)
        if (!request) return
        clearTimeout(late)
        this.#open(socket, request).then((opened) => {
          feed = opened
          feed?.start()
        }, refuse)
      } catch (error) {
        clearTimeout(late)
        refuse(error as Error)
      }
    })
    socket.on('end', () => clearTimeout(late))
    socket.on('close', () => clearTimeout(late))
  }

  /** Undefined when the child has gone meanwhile. */
  async #open(socket: TLSSocket, request: PieceRequest): Promise<Feed | undefined> {
    const self = this.#credentials
    if (!self) throw new Error('this peer is not ready')
    const child = peerIdOf(socket.getPeerX509Certificate()?.subjectAltName)
    const ticket = openTicket(self.verifyKey, request.ticket, this.#deps.now())
    if (!ticket) throw new Error('the ticket is not good, or no longer')
    if (ticket.parent !== self.id) throw new Error('the ticket is for another parent')
    if (ticket.child !== child) throw new Error('the ticket is for another child')
    const holding = await this.#deps.find(ticket.task)
    if (socket.destroyed) return undefined
    if (!holding) throw new Error('this file is not here')
    if (holding.manifest.sha256 !== ticket.sha256) throw new Error('the ticket is for another file')
    this.#drop(ticket.task, child)
    this.#taskOf.set(socket, ticket.task)
    const feed = new Feed({ holding, socket, upload: this.#deps.upload }, { child: child as PeerId, request })
    // A question about speed is no child.
    if (request.blocks === null) this.#feeds.set(socket, feed)
    return feed
  }

  /** A child that comes again has given its old line up. */
  #drop(task: string, child: PeerId): void {
    for (const [socket, feed] of this.#feeds) if (feed.task === task && feed.child === child) socket.destroy()
  }
}
