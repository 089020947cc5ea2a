import { STATUS_CODES } from 'node:http'
import { HeaderSchema, TablePreview, TemplateSchema } from '../../exports/index.ts'
import { EventMessage } from '../../notify/index.ts'
import { PROBLEM_TYPE, Problem } from '../answers/index.ts'
import { type Json, nameSchemas } from './name-schemas.ts'

/** Checked by their domain, or written by it as text: the routes' schemas take anything there. */
const DESCRIBED = {
  Template: TemplateSchema,
  Header: HeaderSchema,
  Footer: HeaderSchema,
  TablePreview,
  EventMessage,
}

const PROBLEM = { $ref: '#/components/responses/Problem' }
/** Every route answers with a problem when something goes wrong. */
const PROBLEMS = { '4XX': PROBLEM, '5XX': PROBLEM, default: PROBLEM }

interface Operation extends Json {
  requestBody?: { required?: boolean; content: Record<string, { schema?: Json }> }
  responses?: Record<string, { description?: string; $ref?: string }>
}

/** Names the schemas, adds the problems, and says which bodies may be left out. */
export function finishDocument<T extends object>(made: T): T {
  const document = made as Json & { paths?: Record<string, Record<string, Operation>>; components: Json }
  for (const operation of Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))) {
    for (const [status, answer] of Object.entries(operation.responses ?? {}))
      if (answer.description === 'Default Response') answer.description = STATUS_CODES[status] ?? 'The answer'
    operation.responses = { ...operation.responses, ...PROBLEMS }
    const { requestBody } = operation
    const bodies = Object.values(requestBody?.content ?? {})
    if (requestBody && bodies.some(({ schema }) => takesNull(schema))) requestBody.required = false
  }
  const problem = {
    description: 'A problem (RFC 9457); docs/errors.md lists its codes',
    content: { [PROBLEM_TYPE]: { schema: Problem } },
  }
  document.components = { ...document.components, responses: { Problem: problem } }
  return nameSchemas(document, DESCRIBED) as T
}

function takesNull(schema: Json = {}): boolean {
  return Array.isArray(schema.anyOf) && schema.anyOf.some((one: Json) => one.type === 'null')
}
