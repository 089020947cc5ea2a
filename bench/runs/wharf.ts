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

/** Wharf reads the feed, keeps a ledger and brings every file to the disk before it counts. */
export async function fetchWithWharf(
  feed: Feed,
  connections: number,
  check: (folder: string) => void,
): Promise<WharfSample> {
  const server = await WharfServer.start({ WHARF_RUN_CONNECTIONS: String(connections) })
  try {
    await server.ask('PUT', '/api/accounts/bench', { url: `${feed.origin}/feed` })
    const begun = performance.now()
    const { run_id } = await server.ask<{ run_id: string }>('POST', '/api/runs', {
      handle: 'bench',
      kind: 'start',
    })
    let firstQuarter = 0
    for (;;) {
      const run = await server.ask<Run>('GET', `/api/runs/${run_id}`)
      if (run.progress.downloaded * 4 <= feed.count) firstQuarter = server.memory().most
      if (run.state === 'Done') break
      if (run.state === 'Failed') throw new Error(`the run failed: ${run.error?.message}`)
      await sleep(LOOK_MS)
    }
    const seconds = (performance.now() - begun) / 1_000
    check(join(server.folder, 'accounts', 'bench'))
    return { seconds, firstQuarter, most: server.memory().most }
  } finally {
    await server.stop()
  }
}
