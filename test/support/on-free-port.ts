import { type AddressInfo, createServer } from 'node:net'

const TRIES = 20

/**
 * Starts a program that cannot be told to choose a port by itself. `start` answers undefined when the port was not to
 * be had: between here and there anybody may have taken it, so only the program itself can tell.
 */
export async function onFreePort<T>(start: (port: number) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const started = await start(port)
    if (started !== undefined) return started
  }
  throw new Error(`${TRIES} ports were taken one after the other`)
}
