import { existsSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

interface GseAgent {
  user: string
  bk_agent_id: string
  bk_container_id: string
}

interface GseEntry {
  source: { file_name: string; store_dir: string; agent: GseAgent }
  target: { file_name: string; store_dir: string; agents: GseAgent[] }
}

export interface GseTask {
  id: string
  request: { timeout_seconds: number; auto_mkdir: boolean; tasks: GseEntry[] }
  /** How often its result was asked for. */
  asked: number
  terminated: Set<string>
}

/** What the test wants of the next answers. Agents are named `agent_id:container_id`. */
interface GseScript {
  /** Error codes; an agent that is not named succeeds. */
  codes: Record<string, number>
  /** How many questions later an agent's row stops being 115. */
  after: Record<string, number>
  /** Agents without a row, for ever. */
  silent: string[]
  /** Every row twice. */
  doubled: boolean
  uploadCode: number
  /** Answers for whole calls, used up one by one. */
  failures: ('500' | 'html' | 'refused' | 'hang')[]
  /** Answer as versions do that put their module's number in front of codes. */
  longCodes: boolean
}

const NO_SUCH_FILE = 119

/** A GSE on loopback that speaks its HTTP interface and copies the files into a folder for each agent. */
export async function startGse(folder: string) {
  const tasks = new Map<string, GseTask>()
  const calls: { name: string; headers: IncomingMessage['headers']; body: unknown }[] = []
  const script: GseScript = {
    codes: {},
    after: {},
    silent: [],
    doubled: false,
    uploadCode: 0,
    failures: [],
    longCodes: false,
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.url?.replace('/api/v2/task/extensions/', '') ?? ''
    const body = JSON.parse(await text(request)) as Record<string, unknown>
    calls.push({ name, headers: request.headers, body })
    const failure = script.failures.shift()
    if (failure === 'hang') return
    if (failure === '500') return void response.writeHead(500).end('oops')
    if (failure === 'html')
      return void response.setHeader('content-type', 'text/html').end('<html>gateway</html>')
    const data = failure === 'refused' ? undefined : await answer(name, body)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        data === undefined
          ? { code: 1017003, message: 'no such thing', data: null }
          : { code: 0, message: 'success', data },
      ),
    )
  }

  async function answer(name: string, body: Record<string, unknown>): Promise<object | undefined> {
    if (name === 'async_transfer_file') {
      const id = `GSE:V2:FILE:${tasks.size + 1}`
      tasks.set(id, { id, request: body as never, asked: 0, terminated: new Set() })
      return { result: { task_id: id } }
    }
    const task = tasks.get(String(body.task_id))
    if (!task) return undefined
    if (name === 'async_terminate_transfer_file') {
      for (const agent of body.agents as GseAgent[]) task.terminated.add(keyOf(agent))
      return { result: { task_id: task.id } }
    }
    return name === 'get_transfer_file_result' ? { version: 'v2', result: await rowsOf(task) } : undefined
  }

  async function rowsOf(task: GseTask): Promise<object[]> {
    task.asked++
    const [first] = task.request.tasks
    const { store_dir, file_name } = first!.source
    const uploadCode = existsSync(join(store_dir, file_name)) ? script.uploadCode : NO_SUCH_FILE
    const rows = [row(first!, undefined, uploadCode)]
    for (const entry of task.request.tasks) {
      for (const agent of entry.target.agents) {
        const key = keyOf(agent)
        if (script.silent.includes(key)) continue
        const code = codeOf(task, key)
        if (code === 0 && uploadCode === 0) await copy(entry, agent)
        rows.push(row(entry, agent, code))
      }
    }
    return script.doubled ? rows.flatMap((one) => [one, one]) : rows
  }

  function codeOf(task: GseTask, key: string): number {
    if (task.terminated.has(key)) return 126
    if (task.asked <= (script.after[key] ?? 0)) return 115
    return script.codes[key] ?? 0
  }

  async function copy({ source, target }: GseEntry, agent: GseAgent): Promise<void> {
    const place = join(folder, agent.bk_agent_id, agent.bk_container_id || 'host', target.store_dir)
    await mkdir(place, { recursive: true })
    await copyFile(join(source.store_dir, source.file_name), join(place, target.file_name))
  }

  function row({ source, target }: GseEntry, agent: GseAgent | undefined, code: number): object {
    const shown = script.longCodes && code > 0 && code < 1_000_000 ? code + 1_000_000 : code
    return {
      error_code: shown,
      error_msg: code === 0 ? '' : `code ${code}`,
      content: {
        type: agent ? 'download' : 'upload',
        mode: agent ? 1 : 0,
        dest_agent_id: agent?.bk_agent_id ?? '',
        dest_container_id: agent?.bk_container_id ?? '',
        dest_file_dir: target.store_dir,
        dest_file_name: target.file_name,
        source_agent_id: source.agent.bk_agent_id,
        source_container_id: source.agent.bk_container_id,
        source_file_dir: source.store_dir,
        source_file_name: source.file_name,
        progress: code === 0 ? 100 : 30,
        speed: 0,
        status: code,
        status_info: '',
        start_time: 0,
        end_time: 0,
        size: 0,
      },
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    tasks,
    calls,
    script,
    /** Where an agent's file is. */
    placeOf: (agentId: string, containerId: string, path: string) =>
      join(folder, agentId, containerId || 'host', path),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function keyOf({ bk_agent_id, bk_container_id }: GseAgent): string {
  return `${bk_agent_id}:${bk_container_id}`
}
