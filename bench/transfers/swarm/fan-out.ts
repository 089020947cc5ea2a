import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Network } from './network.ts'

const SERVER = `
const { createReadStream, statSync } = require('node:fs')
const [host, file] = process.argv.slice(1)
const { size } = statSync(file)
require('node:http')
  .createServer((request, response) => {
    response.writeHead(200, { 'content-length': size })
    createReadStream(file).pipe(response)
  })
  .listen(8099, host, () => console.log('up'))`

/** Every agent fetches the file from the server by plain HTTP, all at once. */
export async function runFanOut(
  network: Network,
  { folder, file, size, agents }: { folder: string; file: string; size: number; agents: number },
): Promise<{ seconds: number; lineRatio: number | undefined }> {
  const target = mkdtempSync(join(folder, 'fan-out-'))
  const host = network.address(0)
  const server = network.spawn(0, process.execPath, ['-e', SERVER, host, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(server.stdout!, 'data')
    const before = network.sent(0)
    const started = performance.now()
    const fetches = Array.from({ length: agents }, (_, at) => {
      const args = ['-s', '-o', join(target, String(at)), `http://${host}:8099/`]
      return once(network.spawn(at + 1, 'curl', args, { stdio: 'ignore' }), 'exit')
    })
    const codes = (await Promise.all(fetches)).map(([code]) => code)
    if (codes.some((code) => code !== 0)) throw new Error(`curl ended with ${codes.join(', ')}`)
    const seconds = (performance.now() - started) / 1000
    const after = network.sent(0)
    return { seconds, lineRatio: before === undefined ? undefined : ((after ?? 0) - before) / size }
  } finally {
    server.kill('SIGKILL')
    await pause(100)
    rmSync(target, { recursive: true, force: true })
  }
}
