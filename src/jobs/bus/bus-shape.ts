import type { Topic } from './bus.ts'

type Fields = Readonly<Record<string, unknown>>

const SHAPES: Readonly<Record<Topic, (message: Fields) => boolean>> = {
  cancel: ({ jobId }) => typeof jobId === 'string',
  events: () => true,
  listening: ({ forMs }) => Number.isFinite(forMs),
  'who-listens': () => true,
  settings: ({ key }) => typeof key === 'string',
  keys: () => true,
  processing: () => true,
  swarm: ({ from, about }) => typeof from === 'string' && typeof about === 'string',
}

/** Whether listeners of the topic can use the message: one of another version may look otherwise. */
export function isSignal(topic: unknown, message: unknown): topic is Topic {
  if (typeof topic !== 'string' || !Object.hasOwn(SHAPES, topic)) return false
  return typeof message === 'object' && message !== null && SHAPES[topic as Topic](message as Fields)
}
