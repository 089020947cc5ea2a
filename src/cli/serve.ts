import { join } from 'node:path'
import { startWharf, type Wharf } from '../app/serve.ts'
import { type Config, loadConfig } from '../config.ts'
import { createLog } from '../kernel/index.ts'
import { guardProcess } from './terminal/guard-process.ts'
import { untilSignal } from './terminal/until-signal.ts'

export interface ServeOptions {
  demo?: boolean
}

/** To close what is open once the drain is over. */
const LAST_MS = 2_000

/** Runs until a signal: the first one drains and ends with 0, a second one ends at once. */
export async function serve(options: ServeOptions): Promise<void> {
  // Bringing a file to the disk blocks a thread of libuv. With its default of four, runs and exports wait for one another;
  // the number is read when the first of them is needed, which is later than this.
  process.env.UV_THREADPOOL_SIZE ??= '16'
  const config = loadConfig(process.env)
  // For what libraries write, uploads above all; Wharf's own files have their modes from kernel/files.ts.
  process.umask(0o777 & ~config.TASK_FILES_MODE)
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  const guard = guardProcess(log)
  const wharf = await startWharf(config)
  guard.drainBy(() => wharf.stop(), { withinMs: config.WHARF_DRAIN_SECONDS * 1000 + LAST_MS })
  const stopped = untilSignal(async () => {
    console.error('wharf: draining; send the signal again to stop at once')
    await wharf.stop()
  })
  const token = wharf.adminTokenFile ? `\nadmin token: ${wharf.adminTokenFile}` : ''
  const welcome = options.demo ? await welcomeText(wharf, config) : ''
  const { grpcAddress } = wharf.apis.processing
  const grpc = `\ngRPC tasks: ${grpcAddress}`
  log.info({ grpc: grpcAddress }, `wharf is listening on ${wharf.address}`)
  // For people: without --demo standard output has the log alone.
  const print = options.demo ? console.log : console.error
  print(`wharf is listening on ${wharf.address}${grpc}${token}${welcome}`)
  await stopped
}

/** The lines below the key can be copied and run as they are; a test does so. */
async function welcomeText(wharf: Wharf, config: Config): Promise<string> {
  const { address } = wharf
  const key = await wharf.demoKey()
  const docs = config.WHARF_DOCS === 'on' ? `\n  API reference      ${address}/docs` : ''
  return `

  Console            ${address}/${docs}
  Demo project's key ${key}
${exportLines(address, key, config)}
  To deliver files to this host: a token for an agent, and the agent, which takes files of the demo project for you:
${await agentLines(wharf, config, key)}
`
}

/** With the sample source, or with what to put in its place. */
function exportLines(address: string, key: string, { WHARF_SAMPLES }: Config): string {
  const hasSamples = WHARF_SAMPLES === 'on'
  const source_url = hasSamples ? `${address}/samples/orders?rows=1000` : 'SOURCE_URL'
  const body = JSON.stringify({ type: 'excel', source_url })
  const rest = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`
  return `
  An Excel file out of ${hasSamples ? 'the built-in sample source' : 'your source (put its address in place of SOURCE_URL)'}, at once:
    curl -fsS -o orders.xlsx '${address}/api/exports?mode=sync' ${rest}

  The same as a task: the answer has its task_id, GET ${address}/api/exports/TASK_ID its progress and download_url:
    curl -fsS '${address}/api/exports' ${rest}
`
}

async function agentLines(wharf: Wharf, config: Config, key: string): Promise<string> {
  const { address } = wharf
  const tokenFile = wharf.adminTokenFile ?? config.adminTokenFile
  const admin = tokenFile ? `$(cat '${tokenFile}')` : '$WHARF_ADMIN_TOKEN'
  const project = (await wharf.projects.authenticate(key))?.project.id
  const invite = `curl -fsS '${address}/api/agents/enrollments' -H "Authorization: Bearer ${admin}" -H 'Content-Type: application/json' -d '{"agent_id": "demo-host"}'`
  const token = `TOKEN=$(${invite} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  const folders = `--state '${join(config.WHARF_DATA_DIR, 'demo-agent')}' --root "$HOME/wharf-demo"`
  const allow = `--allow-project ${project} --allow-user "$(id -un)"`
  return `    ${token}
    mkdir -p "$HOME/wharf-demo"; npx wharf agent --server ${address} --id demo-host ${folders} ${allow} --enroll "$TOKEN"`
}
