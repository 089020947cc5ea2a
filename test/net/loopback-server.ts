import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Loopback {
  origin: string
  port: number
  server: Server
  /** How many connections were opened so far. */
  connections(): number
}

/** A real server on loopback that lives as long as the test. */
export async function startLoopback(listener: RequestListener, host = '127.0.0.1'): Promise<Loopback> {
  let connections = 0
  const server = createServer(listener)
  server.on('connection', () => {
    connections++
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://${host}:${port}`, port, server, connections: () => connections }
}
