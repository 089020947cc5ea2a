import { boundFolder, end, removeFolder, spawnBound, untilPrinted } from './bound-process.ts'
import { requireBinary } from './find-binary.ts'
import { type Launcher, type Server, startBehindFront } from './fronted-server.ts'
import { onFreePort } from './on-free-port.ts'

export interface RedisServer extends Server {
  /** It answers nothing from here on, and closes no connection. */
  hang(): void
  goOn(): void
}

/** A Redis of its own, with no persistence: it forgets everything at a restart. Its address outlives a stop. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const launcher = prepareRedis()
  if (!launcher) return undefined
  const server = await startBehindFront((port) => `redis://127.0.0.1:${port}/0`, launcher)
  return {
    ...server,
    hang: () => void server.child()?.kill('SIGSTOP'),
    goOn: () => void server.child()?.kill('SIGCONT'),
  }
}

export function prepareRedis(): Launcher | undefined {
  const binary = requireBinary('redis-server')
  if (!binary) return undefined
  const folder = boundFolder('wharf-redis-')
  const start = async (port: number) => {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' }
    const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)])
    const child = spawnBound(binary, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    if (!(await untilPrinted(child, 'Ready to accept connections'))) return undefined
    const stop = () => {
      // While it hangs it hears no other signal.
      child.kill('SIGCONT')
      return end(child, 'SIGTERM')
    }
    return { port, stop, child }
  }
  return { start: () => onFreePort(start), clean: () => removeFolder(folder) }
}
