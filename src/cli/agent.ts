import { composeAgent } from '../app/agent.ts'
import { loadConfig } from '../config.ts'
import { AppError, createLog, ERRORS } from '../kernel/index.ts'
import { guardProcess } from './terminal/guard-process.ts'
import { untilSignal } from './terminal/until-signal.ts'

export interface AgentCommand {
  server: string
  id: string
  container: string
  state: string
  enroll?: string
  root: string[]
  allowProject?: string[]
  allowUser?: string[]
  listen: string
  advertise?: string
  upload?: string
  download?: string
}

const STOP_MS = 5_000

/** Runs until a signal; files on their way stay as `.part` and go on with the next start. */
export async function agent(command: AgentCommand): Promise<void> {
  const config = loadConfig(process.env)
  const log = createLog({ level: config.WHARF_LOG_LEVEL })
  const guard = guardProcess(log)
  const { allowProject: projects = [], allowUser: users = [] } = command
  let serves = false
  const running = composeAgent(
    {
      server: command.server,
      state: command.state,
      enroll: command.enroll,
      agentId: command.id,
      containerId: command.container,
      roots: command.root,
      allow: { projects, users },
      ...parseListen(command.listen),
      advertiseHost: command.advertise ?? null,
      uploadLimit: parseRate('--upload', command.upload),
      downloadLimit: parseRate('--download', command.download),
      onConnected: () => {
        if (!serves) console.error(`wharf agent ${command.id} serves ${command.server}`)
        serves = true
      },
    },
    log,
  )
  const stop = async () => running.stop?.()
  guard.drainBy(stop, { withinMs: STOP_MS })
  const stopped = untilSignal(stop)
  await running.start?.()
  if (projects.length === 0 || users.length === 0)
    console.error(
      'wharf: this agent takes no files; --allow-project and --allow-user say whose, and for whom',
    )
  await stopped
}

const UNITS: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** `10m` is ten million bytes per second; without it there is no limit. */
function parseRate(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const match = /^(\d{1,12})([kmg]?)$/i.exec(text)
  const rate = Number(match?.[1]) * (UNITS[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN)
  if (rate > 0) return rate
  throw new AppError(
    ERRORS.CONFIG_INVALID,
    `${option} takes bytes per second like 500k or 10m, not '${text}'`,
  )
}

/** `HOST:PORT`; an IPv6 host is in brackets. */
function parseListen(text: string): { listenHost: string; listenPort: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  if (host !== undefined && port <= 65_535) return { listenHost: host, listenPort: port }
  throw new AppError(ERRORS.CONFIG_INVALID, `--listen takes HOST:PORT, not '${text}'`)
}
