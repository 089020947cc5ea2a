import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { AGENT_RESULTS, type FromAgent } from '../wire/index.ts'

const closed = { additionalProperties: false }
/** What ends up in the ledger, whose texts take no NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const PLAIN = /^[^\u0000-\u001f\u007f]*$/u.source
const text = (maxLength: number) => Type.String({ maxLength, pattern: PLAIN })
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is refused
const Words = Type.String({ maxLength: 10_000, pattern: /^[^\u0000]*$/u.source })
const Id = text(2_048)
const TaskId = text(64)
const Count = Type.Integer({ minimum: 0, maximum: 2 ** 32 })
/** Only what an agent can know: that the source failed, or the time is over, is not for it to say. */
const Code = Type.Union(AGENT_RESULTS.map((code) => Type.Literal(code)))
const Outcome = { code: Code, message: Words }

const MESSAGE = Type.Union([
  Type.Object(
    {
      type: Type.Literal('report'),
      tasks: Type.Array(
        Type.Object(
          {
            task: TaskId,
            have: Count,
            parent: Type.Union([Id, Type.Null()]),
            children: Type.Array(Type.Object({ id: Id, waiting: Count }, closed), { maxItems: 100_000 }),
          },
          closed,
        ),
        { maxItems: 10_000 },
      ),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('done'),
      task: TaskId,
      ...Outcome,
      places: Type.Optional(Type.Array(Type.Object(Outcome, closed), { maxItems: 10_000 })),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('orphan'),
      task: TaskId,
      parent: Id,
      reason: Type.Union([Type.Literal('lost'), Type.Literal('refused'), Type.Literal('bad_piece')]),
      message: Words,
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('probed'),
      task: TaskId,
      probe: Count,
      bytes: Count,
      ms: Type.Number({ minimum: 0, maximum: 1e9 }),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('hello'),
      nonce: text(64),
      signature: text(512),
      host: Type.Union([
        Type.String({ minLength: 1, maxLength: 255, pattern: /^[\w.:-]+$/.source }),
        Type.Null(),
      ]),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      version: text(64),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('enroll'),
      agent_id: Type.String({ minLength: 1, maxLength: 256, pattern: PLAIN }),
      container_id: text(256),
      public_key: Type.String({ maxLength: 2_000 }),
      signature: text(512),
    },
    closed,
  ),
])

const validator = Compile(MESSAGE)

/** The same of a message that was read before. */
export function isAgentMessage(message: unknown): message is FromAgent {
  return validator.Check(message)
}

/** What an agent may say. Throws on anything else: its sender is not an agent of ours. */
export function readAgentMessage(data: string): FromAgent {
  const message: unknown = JSON.parse(data)
  if (validator.Check(message)) return message as Static<typeof MESSAGE> satisfies FromAgent
  const [, [error]] = validator.Errors(message)
  throw new Error(`not a message of an agent: ${error?.instancePath ?? ''} ${error?.message ?? ''}`)
}
