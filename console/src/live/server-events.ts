import type { EventMessage } from '../../../src/http/wire.ts'

/** An event as the server tells it; what else it has depends on its type. */
export type LiveEvent = EventMessage

/** Server-sent events out of a fetch: an EventSource can show no key. Yields null for whatever only shows life. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<LiveEvent | null> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value.replaceAll('\r', '')
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) yield parse(message)
    yield null
  }
}

function parse(message: string): LiveEvent | null {
  const data = message
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n')
  if (data === '') return null
  const value: unknown = JSON.parse(data)
  return typeof value === 'object' && value !== null && 'seq' in value ? (value as LiveEvent) : null
}
