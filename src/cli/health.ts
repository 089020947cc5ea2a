import { isIP } from 'node:net'
import { loadConfig } from '../config.ts'
import { askReadiness, loopbackOf, messageOf, readAddress } from '../kernel/index.ts'

const ANSWER_MS = 5_000

/** For container platforms: whatever the port is, a running server has left its address in the data dir. */
export async function health({ server }: { server?: string }): Promise<void> {
  const { WHARF_DATA_DIR, WHARF_HOST, WHARF_PORT } = loadConfig(process.env)
  const host = isIP(WHARF_HOST) === 6 ? `[${WHARF_HOST}]` : WHARF_HOST
  const address = server ?? readAddress(WHARF_DATA_DIR) ?? loopbackOf(`http://${host}:${WHARF_PORT}`)
  try {
    const { isReady, text } = await askReadiness(address, AbortSignal.timeout(ANSWER_MS))
    console.log(`${address}: ${text}`)
    if (!isReady) process.exitCode = 1
  } catch (error) {
    console.log(messageOf(error))
    process.exitCode = 1
  }
}
