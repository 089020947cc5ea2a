import { composeAgent } from '../app/agent.ts'
import { loadConfig } from '../config.ts'
import { createLog } from '../kernel/index.ts'
import type { ListenAddress } from './options/agent-options.ts'
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
  listen: ListenAddress
  advertise?: string
  upload?: number
  download?: number
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
      listenHost: command.listen.host,
      listenPort: command.listen.port,
      advertiseHost: command.advertise ?? null,
      uploadLimit: command.upload ?? null,
      downloadLimit: command.download ?? null,
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
