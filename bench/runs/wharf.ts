import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WharfServer } from '../wharf-server.ts'
import type { Feed } from './feed.ts'

const LOOK_MS = 100

export interface WharfSample {
  seconds: number
  /** The most memory until a quarter of the files were there, and until the end, in MB. */
  firstQuarter: number
  most: number
}

interface Run {
  state: string
  error: { message: string } | null
  progress: { downloaded: number }
}

/** How long a run in full swing needs from the request to stop until it has stopped and put its folder in order. */
export async function cancelSeconds(feed: Feed, connections: number): Promise<number> {
  const server = await WharfServer.start({ WHARF_RUN_CONNECTIONS: String(connections) })
  try {
    const id = await begin(server, feed)
    while ((await server.ask<Run>('GET', `/api/runs/${id}`)).progress.downloaded < feed.count / 10)
      await sleep(LOOK_MS)
    const begun = performance.now()
    await server.ask('POST', `/api/runs/${id}/cancel`, { files: 'keep' })
    const parts = () => readdirSync(filesOf(server)).some((file) => file.endsWith('.part'))
    while ((await server.ask<Run>('GET', `/api/runs/${id}`)).state !== 'Cancelled' || parts()) await sleep(10)
    return (performance.now() - begun) / 1_000
  } finally {
    await server.stop()
  }
}

/** Wharf reads the feed, keeps a ledger and brings every file to the disk before it counts. */
export async function fetchWithWharf(
  feed: Feed,
  connections: number,
  check: (folder: string) => void,
): Promise<WharfSample> {
  const server = await WharfServer.start({ WHARF_RUN_CONNECTIONS: String(connections) })
  try {
    const begun = performance.now()
    const id = await begin(server, feed)
    let firstQuarter = 0
    for (;;) {
      const run = await server.ask<Run>('GET', `/api/runs/${id}`)
      if (run.progress.downloaded * 4 <= feed.count) firstQuarter = server.memory().most
      if (run.state === 'Done') break
      if (run.state === 'Failed') throw new Error(`the run failed: ${run.error?.message}`)
      await sleep(LOOK_MS)
    }
    const seconds = (performance.now() - begun) / 1_000
    check(filesOf(server))
    return { seconds, firstQuarter, most: server.memory().most }
  } finally {
    await server.stop()
  }
}

async function begin(server: WharfServer, feed: Feed): Promise<string> {
  await server.ask('PUT', '/api/accounts/bench', { url: `${feed.origin}/feed` })
  const order = { handle: 'bench', kind: 'start' }
  return (await server.ask<{ run_id: string }>('POST', '/api/runs', order)).run_id
}

function filesOf(server: WharfServer): string {
  return join(server.folder, 'accounts', 'bench')
}
