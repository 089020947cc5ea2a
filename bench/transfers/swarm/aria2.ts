import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Network } from './network.ts'

const PIECE = 256 * 1024
/** The smallest tracker that works: everyone who asks is a peer of everyone. Peers are identified by address. */
const TRACKER = `
const peers = new Map()
require('node:http')
  .createServer((request, response) => {
    const port = Number(new URL(request.url, 'http://x').searchParams.get('port'))
    const address = request.socket.remoteAddress.replace('::ffff:', '')
    peers.set(address + ':' + port, Buffer.from([...address.split('.').map(Number), port >> 8, port & 255]))
    const list = Buffer.concat([...peers.values()])
    response.end(Buffer.concat([Buffer.from('d8:intervali1e5:peers' + list.length + ':'), list, Buffer.from('e')]))
  })
  .listen(8098, process.argv[1], () => console.log('up'))`

/** BitTorrent by Debian's aria2: one seed at the server, the agents as peers, a tracker beside the seed. */
export async function runAria2(
  network: Network,
  { folder, file, size, agents }: { folder: string; file: string; size: number; agents: number },
): Promise<{ seconds: number; lineRatio: number | undefined }> {
  const target = mkdtempSync(join(folder, 'aria2-'))
  const torrent = join(target, 'file.torrent')
  const host = network.address(0)
  writeFileSync(torrent, makeTorrent(file, `http://${host}:8098/announce`))
  const hook = join(target, 'done.sh')
  writeFileSync(hook, '#!/bin/sh\ntouch "$(dirname "$3").done"\n', { mode: 0o755 })
  const children: ChildProcess[] = []
  const start = (at: number, dir: string, extra: string[]) => {
    const args = ['--quiet', '--enable-dht=false', '--bt-enable-lpd=false', '--seed-ratio=0.0', '--no-conf']
    const tracker = ['--bt-tracker-interval=1', '--bt-max-peers=0', '--file-allocation=none']
    const port = `--listen-port=${6900 + at}`
    children.push(
      network.spawn(at, 'aria2c', [...args, ...tracker, port, `--dir=${dir}`, ...extra, torrent], {
        stdio: 'ignore',
      }),
    )
  }
  try {
    const tracker = network.spawn(0, process.execPath, ['-e', TRACKER, host], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(tracker)
    await once(tracker.stdout!, 'data')
    start(0, dirname(file), ['--check-integrity=true', '--bt-seed-unverified=true'])
    await pause(1_500)
    const before = network.sent(0)
    const started = performance.now()
    const dirs = Array.from({ length: agents }, (_, at) => join(target, `agent-${at + 1}`))
    dirs.forEach((dir, at) => {
      mkdirSync(dir)
      start(at + 1, dir, [`--on-bt-download-complete=${hook}`])
    })
    while (!dirs.every((dir) => existsSync(`${dir}.done`))) {
      if (performance.now() - started > 600_000) throw new Error('aria2 did not finish')
      await pause(20)
    }
    const seconds = (performance.now() - started) / 1000
    const after = network.sent(0)
    return { seconds, lineRatio: before === undefined ? undefined : ((after ?? 0) - before) / size }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await pause(100)
    rmSync(target, { recursive: true, force: true })
  }
}

function makeTorrent(file: string, announce: string): Buffer {
  const content = readFileSync(file)
  const hashes: Buffer[] = []
  for (let at = 0; at < content.length; at += PIECE)
    hashes.push(
      createHash('sha1')
        .update(content.subarray(at, at + PIECE))
        .digest(),
    )
  const text = (value: string) => `${Buffer.byteLength(value)}:${value}`
  const head = `d8:announce${text(announce)}4:infod6:lengthi${content.length}e4:name${text(basename(file))}`
  const pieces = Buffer.concat(hashes)
  return Buffer.concat([
    Buffer.from(`${head}12:piece lengthi${PIECE}e6:pieces${pieces.length}:`),
    pieces,
    Buffer.from('ee'),
  ])
}
