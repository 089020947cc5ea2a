import { startWharf } from '../compose.ts'
import { loadConfig } from '../config.ts'
import { untilSignal } from './until-signal.ts'

export interface ServeOptions {
  demo?: boolean
}

/** Runs until a signal: the first one drains and ends with 0, a second one ends at once. */
export async function serve(options: ServeOptions): Promise<void> {
  const config = loadConfig(process.env)
  const wharf = await startWharf(config)
  const stopped = untilSignal(async () => {
    console.error('wharf: draining; send the signal again to stop at once')
    await wharf.stop()
  })
  const token = wharf.adminTokenFile ? `\nadmin token: ${wharf.adminTokenFile}` : ''
  const welcome = options.demo ? welcomeText(wharf.address, await wharf.demoKey()) : ''
  console.log(`wharf is listening on ${wharf.address}${token}${welcome}`)
  await stopped
}

function welcomeText(address: string, key: string): string {
  return `

  Console            ${address}/
  API reference      ${address}/docs
  Demo project's key ${key}
`
}
