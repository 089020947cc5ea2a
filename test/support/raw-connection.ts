import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A bare TCP connection to a server's address; what goes wrong on it is the test's wish. */
export async function openConnection(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

export interface Head {
  method: string
  path: string
  headers?: Record<string, string | number>
}

export function requestHead({ method, path, headers = {} }: Head): string {
  const lines = Object.entries({ Host: 'wharf.test', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`
}

export function upgradeHead(path: string, headers: Record<string, string> = {}): string {
  const upgrade = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': 13,
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
  }
  return requestHead({ method: 'GET', path, headers: { ...upgrade, ...headers } })
}

/** Resolves with the first bytes of the answer, or with none if the connection ends before. */
export async function firstBytes(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(String(bytes)))
    for (const end of ['end', 'close']) socket.once(end, () => resolve(''))
  })
}

/** What was written is on its way. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
