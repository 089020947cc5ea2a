import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError, closest, ERRORS, outageOf } from '../../kernel/index.ts'
import { errorTypeOf } from './errors-page.ts'
import { languageOf } from './language.ts'

export const PROBLEM_TYPE = 'application/problem+json'

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Where the code is explained' }),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: 'Stable, for programs' }),
    detail: Type.String({ description: 'For people' }),
    instance: Type.String({ description: 'The id of the request' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String(),
          message: Type.String(),
          rule: Type.Optional(Type.String({ description: 'The keyword of JSON Schema that does not hold' })),
          limit: Type.Optional(Type.Number({ description: 'Of a rule about a length, a count or a number' })),
          name: Type.Optional(Type.String({ description: 'The field that is missing or not known' })),
        }),
        { description: 'With REQUEST_INVALID: each mistake with its place' },
      ),
    ),
  },
  { title: 'Problem', additionalProperties: true, description: 'RFC 9457' },
)
type Problem = Static<typeof Problem> & Record<string, unknown>

export function toProblem(error: AppError, requestId: string, language: 'en' | 'zh' = 'en'): Problem {
  return {
    // Programs may rely on it: a request that is wrong as a whole has one entry, without a path.
    ...(error.kind === ERRORS.REQUEST_INVALID && { errors: [{ path: '', message: error.message }] }),
    ...error.details,
    type: errorTypeOf(error.code),
    title: error.kind.title,
    status: error.kind.http,
    code: error.code,
    detail: error.words[language] ?? error.message,
    instance: `urn:request:${requestId}`,
  }
}

const RETRY_AFTER_SECONDS: Record<number, number> = { 503: 2, 507: 30 }

/** When to ask again, in seconds. Whatever passes by itself says so, though the error itself may not. */
export function retryAfterOf({ retryAfter, kind }: AppError): number | undefined {
  const seconds = retryAfter ?? RETRY_AFTER_SECONDS[kind.http]
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds))
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply {
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== undefined) reply.header('Retry-After', retryAfter)
  if (error.kind.http === 416) reply.header('Content-Range', `bytes */${error.details.size ?? '*'}`)
  if (error.kind.http === 401) reply.header('WWW-Authenticate', 'Bearer realm="wharf"')
  return reply
    .code(error.kind.http)
    .type(PROBLEM_TYPE)
    .send(toProblem(error, request.id, languageOf(request)))
}

/** What Fastify and its parsers throw, in our words. */
export function toAppError(error: FastifyError | Error): AppError {
  if (error instanceof AppError) return error
  const { code, validation, validationContext, statusCode } = error as FastifyError
  if (validation) return invalidRequest(validation, validationContext ?? 'body')
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(ERRORS.BODY_TOO_LARGE, error.message, { cause: error })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError(ERRORS.MEDIA_TYPE_UNSUPPORTED, 'send the body as application/json', {
        cause: error,
      })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new AppError(ERRORS.BODY_NOT_JSON, 'the body is not valid JSON', { cause: error })
  }
  // Of a parser of bodies; one of our own code is a fault of ours.
  if (error instanceof SyntaxError && statusCode === 400)
    return new AppError(ERRORS.BODY_NOT_JSON, `the body is not valid JSON: ${error.message}`)
  const outage = outageOf(error)
  if (outage) return outage
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new AppError(ERRORS.REQUEST_INVALID, error.message, { cause: error })
  }
  return new AppError(
    ERRORS.INTERNAL,
    'something broke inside Wharf; the log has more under this request id',
    {
      cause: error,
    },
  )
}

type Validation = NonNullable<FastifyError['validation']>

interface Extra {
  additionalProperty?: string
  missingProperty?: string
  allowedValues?: unknown[]
  limit?: unknown
}

/** What a field that does not exist may have been meant to be. */
function meant(name: string, { parentSchema }: { parentSchema?: { properties?: object } }): string {
  const near = closest(name, Object.keys(parentSchema?.properties ?? {}))
  return near === undefined ? '' : `; did you mean ${near}?`
}

function invalidRequest(validation: Validation, where: string): AppError {
  const errors = oneForEachUnion(validation).map((error) => {
    const { instancePath, message, params, keyword } = error
    const extra = (params ?? {}) as Extra
    const hint = extra.allowedValues ? `: ${extra.allowedValues.join(', ')}` : ''
    const unknown = extra.additionalProperty
      ? ` (${extra.additionalProperty}${meant(extra.additionalProperty, error as object)})`
      : ''
    const name = extra.additionalProperty ?? extra.missingProperty
    return {
      path: `${where}${instancePath}`,
      message: `${message ?? 'is not valid'}${hint}${unknown}`,
      rule: keyword,
      ...(typeof extra.limit === 'number' && { limit: extra.limit }),
      ...(name !== undefined && { name }),
    }
  })
  const detail = errors.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new AppError(ERRORS.REQUEST_INVALID, detail, { details: { errors } })
}

/**
 * A value that fits none of several variants has an error for each, and one for all of them. What remains is what helps: if the value
 * has the type of one variant, what is wrong with it there; else the types that it may have.
 */
function oneForEachUnion(validation: Validation): Validation {
  const inner = (union: Validation[number]) =>
    validation.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/`))
  return validation
    .filter(({ keyword }) => keyword === 'anyOf')
    .reduce((errors, union) => {
      const within = inner(union)
      const variants = Map.groupBy(
        within,
        ({ schemaPath }) => schemaPath.slice(union.schemaPath.length).split('/')[1],
      )
      const near = [...variants.values()].filter((found) => !found.some((error) => isOtherKind(error, union)))
      const [best] = near.toSorted((a, b) => a.length - b.length)
      if (best)
        return errors.filter((error) => error !== union && (!within.includes(error) || best.includes(error)))
      const kinds = new Set(within.filter((error) => isOtherKind(error, union)).map(kindAsked))
      if (kinds.size === 0) return errors
      const one = { ...union, keyword: 'type', message: `must be ${[...kinds].join(' or ')}`, params: {} }
      return errors.filter((error) => !within.includes(error)).map((error) => (error === union ? one : error))
    }, validation)
}

/** The value is not what a variant is for, so that it is not worth a word what else it lacks. */
function isOtherKind({ keyword, instancePath }: Validation[number], union: Validation[number]): boolean {
  return instancePath === union.instancePath && (keyword === 'type' || keyword === 'const')
}

function kindAsked({ keyword, params }: Validation[number]): string {
  return keyword === 'const' ? JSON.stringify(params.allowedValue) : String(params.type)
}
