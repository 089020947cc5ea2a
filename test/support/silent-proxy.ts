import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a server on loopback that can break without anybody being told. */
export async function startProxy(port: number) {
  const open = new Set<Socket>()
  const proxy = createServer((caller) => {
    const server = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [caller, server],
      [server, caller],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    proxy.close()
  })
  const address = proxy.address()
  return {
    port: typeof address === 'object' ? address?.port : 0,
    /** Connections that are open now carry nothing any more, and stay open. New ones work. */
    fallSilent() {
      for (const socket of open) socket.unpipe().pause()
    },
  }
}
