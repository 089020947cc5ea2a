import { setTimeout as sleep } from 'node:timers/promises'
import { checkBars } from '../report.ts'
import { WharfServer } from '../wharf-server.ts'

export const description = 'the embedded server: memory while idle, and how soon it is ready'

const IDLE_MS = 10_000

export async function run(): Promise<boolean> {
  const server = await WharfServer.start()
  try {
    await sleep(IDLE_MS)
    return checkBars([
      { what: 'resident while idle', value: server.memory().now, atMost: 150, unit: 'MB' },
      { what: 'ready after its start', value: server.readyMs / 1_000, atMost: 2, unit: 's' },
    ])
  } finally {
    await server.stop()
  }
}
