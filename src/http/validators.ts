import ajvCompiler, { type ValidatorFactory } from '@fastify/ajv-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type Build = (
  schemas: unknown,
  options: { customOptions?: Record<string, unknown> },
) => FastifySchemaCompiler<unknown>

/** Path, query and header are text, so what they say is read as the type it should have. A body has types of its own. */
export function validators(): ValidatorFactory {
  const build = ajvCompiler() as unknown as Build
  const both: Build = (schemas, options) => {
    const compiler = (coerceTypes: false | 'array') =>
      build(schemas, { ...options, customOptions: { ...options.customOptions, coerceTypes } })
    const [asItIs, fromText] = [compiler(false), compiler('array')]
    return (route) => (route.httpPart === 'body' ? asItIs : fromText)(route)
  }
  return both as unknown as ValidatorFactory
}
