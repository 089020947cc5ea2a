import { createParser } from 'eventsource-parser'
import type { EventMessage } from '../../../src/http/wire.ts'

/** An event as the server sends it; its other fields depend on its type. */
export type LiveEvent = EventMessage

/** Server-sent events of a fetch: an EventSource cannot send a key. Yields null for anything that is only a sign of life. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<LiveEvent | null> {
  const events: LiveEvent[] = []
  const parser = createParser({
    onEvent({ data }) {
      const value: unknown = JSON.parse(data)
      if (typeof value === 'object' && value !== null && 'seq' in value) events.push(value as LiveEvent)
    },
  })
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parser.feed(read.value)
    yield* events.splice(0)
    yield null
  }
}
