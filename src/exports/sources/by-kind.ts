import { type Static, type TSchema, Type } from 'typebox'

/** One of several objects that are told apart by their `kind`: what is wrong is said of that one alone. */
export function byKind<T extends TSchema[]>(variants: [...T]) {
  return Type.Unsafe<Static<T[number]>>({
    type: 'object',
    discriminator: { propertyName: 'kind' },
    required: ['kind'],
    oneOf: variants,
  })
}
