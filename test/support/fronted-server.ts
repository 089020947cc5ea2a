import type { ChildProcess } from 'node:child_process'
import { Front } from './front.ts'

export interface Server {
  url: string
  /** Ends it; what it kept stays for a later `start`. */
  stop(): Promise<void>
  /** Ends it as a crash does, if it knows how to; otherwise like `stop`. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes what it kept. */
  remove(): Promise<void>
}

/** A server of another's making: it gets a new port at each start. */
export interface Launcher {
  start(): Promise<Launched>
  /** Removes what it kept. */
  clean(): void
}

interface Launched {
  port: number
  child: ChildProcess
  stop(): Promise<void>
  crash?(): Promise<void>
}

/** A server that can be stopped and started on the same address. */
export async function startBehindFront(
  urlOf: (port: number) => string,
  launcher: Launcher,
): Promise<Server & { child(): ChildProcess | undefined }> {
  const front = await Front.open()
  let launched: Launched | undefined
  const server = {
    url: urlOf(front.port),
    child: () => launched?.child,
    async start() {
      launched = await launcher.start()
      front.to = launched.port
    },
    async stop() {
      front.to = undefined
      await launched?.stop()
      launched = undefined
    },
    async crash() {
      front.to = undefined
      await (launched?.crash ?? launched?.stop)?.()
      launched = undefined
    },
    async remove() {
      await server.stop()
      await front.close()
      launcher.clean()
    },
  }
  await server.start()
  return server
}
