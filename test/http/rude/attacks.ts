import type { Socket } from 'node:net'
import {
  firstBytes,
  nextTurn,
  openConnection,
  requestHead,
  upgradeHead,
} from '../../support/raw-connection.ts'

/** A request as bytes, and where it goes. */
export interface RawRequest {
  address: string
  method: string
  path: string
  headers: Record<string, string | number>
  body: Buffer
}

/** What one client does. A socket that it returns stays open for as long as the others rage. */
export type Attack = (request: RawRequest) => Promise<Socket | undefined>

const head = ({ method, path, headers, body }: RawRequest, more = 0) =>
  requestHead({
    method,
    path,
    headers: { ...headers, ...(body.length + more > 0 && { 'Content-Length': body.length + more }) },
  })

/** More than is ever sent: the request stays unfinished. */
const MISSING = 100_000

async function open(request: RawRequest, bytes: (string | Buffer)[]): Promise<Socket> {
  const socket = await openConnection(request.address)
  for (const part of bytes) socket.write(part)
  return socket
}

/** The whole request, as it should be. */
export function send(request: RawRequest): Promise<Socket> {
  return open(request, [head(request), request.body])
}

async function reset(socket: Socket): Promise<undefined> {
  await nextTurn()
  socket.resetAndDestroy()
}

export const ATTACKS: Record<string, Attack> = {
  async 'breaks off in the head'(request) {
    const text = head(request)
    return reset(await open(request, [text.slice(0, text.length / 2)]))
  },
  async 'breaks off in the body'(request) {
    return reset(await open(request, [head(request, MISSING), request.body]))
  },
  async 'hangs up in the body'(request) {
    const socket = await open(request, [head(request, MISSING), request.body])
    await nextTurn()
    socket.destroy()
    return undefined
  },
  async 'breaks off before the answer'(request) {
    return reset(await send(request))
  },
  async 'breaks off in the answer'(request) {
    const socket = await send(request)
    await firstBytes(socket)
    return reset(socket)
  },
  async 'resets after an upgrade'(request) {
    const { Authorization } = request.headers
    return reset(await open(request, [upgradeHead(request.path, { Authorization: String(Authorization) })]))
  },
  async 'is half-open: asks, closes its side, and never the rest'(request) {
    const socket = await send(request)
    socket.end()
    return socket
  },
  async 'falls silent in the body'(request) {
    return open(request, [head(request, MISSING), request.body.subarray(0, 1)])
  },
  async 'reads nothing'(request) {
    return send(request)
  },
}

/** Clients that send one byte whenever they are told to, so that nobody has to wait for them. */
export class Tricklers {
  readonly #open: { socket: Socket; left: Buffer }[] = []

  async add(request: RawRequest): Promise<void> {
    const bytes = Buffer.concat([Buffer.from(head(request)), request.body])
    this.send(await openConnection(request.address), bytes)
  }

  send(socket: Socket, bytes: Buffer): void {
    this.#open.push({ socket, left: bytes })
  }

  oneByte(): void {
    for (const one of this.#open) {
      one.socket.write(one.left.subarray(0, 1))
      one.left = one.left.subarray(1)
    }
  }

  get sockets(): Socket[] {
    return this.#open.map(({ socket }) => socket)
  }
}
