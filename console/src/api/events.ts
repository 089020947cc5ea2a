import { createParser } from 'eventsource-parser'
import type { EventMessage } from '../../../src/http/wire.ts'
import { askRaw } from './client.ts'

/** An event as the server sends it; its other fields depend on its type. */
export type LiveEvent = EventMessage

/** The event log after `seq`, once the server answers. An EventSource could not send the session's headers. */
export async function openEvents(
  seq: number,
  signal: AbortSignal,
): Promise<AsyncGenerator<LiveEvent | null> | null> {
  const headers = { accept: 'text/event-stream' }
  const { body } = await askRaw(`/api/events?after=${seq}`, { signal, headers })
  return body && readEvents(body)
}

/** Yields null for anything that is only a sign of life. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<LiveEvent | null> {
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
