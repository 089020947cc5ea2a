import ajvCompiler, { type ValidatorFactory } from '@fastify/ajv-compiler'
import serializerCompiler, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type Build = (
  schemas: unknown,
  options: { customOptions?: Record<string, unknown> },
) => FastifySchemaCompiler<unknown>

type Validator = ReturnType<FastifySchemaCompiler<unknown>>

/**
 * What turns the schemas of routes into functions. Compiling all of them is most of what a start costs, so each is compiled
 * when it is first needed.
 */
export function schemaCompilers() {
  return { buildValidator: validators(), buildSerializer: serializers() }
}

/** Path, query and header are text, so what they say is read as the type it should have. A body has types of its own. */
function validators(): ValidatorFactory {
  const build = ajvCompiler() as unknown as Build
  const both: Build = (schemas, options) => {
    const compiler = (coerceTypes: false | 'array') =>
      build(schemas, { ...options, customOptions: { ...options.customOptions, coerceTypes } })
    const [asItIs, fromText] = [compiler(false), compiler('array')]
    return (route) => whenNeeded(() => (route.httpPart === 'body' ? asItIs : fromText)(route))
  }
  return both as unknown as ValidatorFactory
}

/** Fastify looks for what was found wrong at the function itself. */
function whenNeeded(compile: () => Validator): Validator {
  let compiled: Validator | undefined
  const validate: Validator = (data) => {
    compiled ??= compile()
    const valid = compiled(data)
    validate.errors = compiled.errors ?? null
    return valid
  }
  return validate
}

function serializers(): SerializerFactory {
  const build = serializerCompiler()
  return (...about) => {
    const compiler = build(...about)
    return (route) => {
      let compiled: ReturnType<typeof compiler> | undefined
      return (data) => {
        compiled ??= compiler(route)
        return compiled(data)
      }
    }
  }
}
