import { isIP } from 'node:net'
import { loadConfig } from '../config.ts'
import { loopbackOf, messageOf, readAddress } from '../kernel/index.ts'

const ANSWER_MS = 5_000

/** For container platforms: whatever the port is, a running server has left its address in the data dir. */
export async function health({ server }: { server?: string }): Promise<void> {
  const { WHARF_DATA_DIR, WHARF_HOST, WHARF_PORT } = loadConfig(process.env)
  const host = isIP(WHARF_HOST) === 6 ? `[${WHARF_HOST}]` : WHARF_HOST
  const address = server ?? readAddress(WHARF_DATA_DIR) ?? loopbackOf(`http://${host}:${WHARF_PORT}`)
  try {
    const answer = await fetch(`${address.replace(/\/+$/, '')}/readyz`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    console.log(`${address}: ${answer.status} ${(await answer.text()).slice(0, 500)}`)
    if (!answer.ok) process.exitCode = 1
  } catch (error) {
    console.log(`${address}: no answer (${messageOf((error as Error).cause ?? error)})`)
    process.exitCode = 1
  }
}
