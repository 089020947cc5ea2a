import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { until } from './until.ts'

export interface Message {
  seq: number
  prev_seq: number
  type: string
  task_id: string
  project_id: string
  status: string
  stage: string
  progress?: { fetched: number; total: number | null }
  [member: string]: unknown
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Reads a WebSocket as a browser would. */
export async function openSocket(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  onTestFinished(() => socket.terminate())
  const messages: Message[] = []
  socket.on('message', (text) => messages.push(JSON.parse(String(text))))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
    socket.once('unexpected-response', (_, answer) => {
      answer.resume()
      reject(new Error(`refused with status ${answer.statusCode}`))
    })
  })
  return { socket, messages, until: waiter(messages) }
}

export interface SseReader {
  status: number
  messages: Message[]
  /** The `id` of each message. */
  ids: string[]
  /** Lines that are comments. */
  comments: string[]
  /** The `event` of each message that has one. */
  names: string[]
  until(type: string, taskId?: string): Promise<Message>
  close(): void
}

/** Reads server-sent events line by line. */
export async function openEvents(url: string, headers: Record<string, string>): Promise<SseReader> {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const answer = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: gone.signal,
  })
  const messages: Message[] = []
  const ids: string[] = []
  const comments: string[] = []
  const names: string[] = []
  const read = async () => {
    let rest = ''
    for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split(/\r?\n/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith(':')) comments.push(line)
        if (line.startsWith('event:')) names.push(line.slice(6).trim())
        if (line.startsWith('id:')) ids.push(line.slice(3).trim())
        if (line.startsWith('data:')) messages.push(JSON.parse(line.slice(5)))
      }
    }
  }
  read().catch(() => undefined)
  return {
    status: answer.status,
    messages,
    ids,
    comments,
    names,
    until: waiter(messages),
    close: () => gone.abort(),
  }
}

function waiter(messages: Message[]) {
  return (type: string, taskId?: string) =>
    until(`${type} has arrived`, () =>
      messages.find((message) => message.type === type && (!taskId || message.task_id === taskId)),
    )
}
