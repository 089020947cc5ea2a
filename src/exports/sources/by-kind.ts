import { type Static, type TSchema, Type } from 'typebox'

/** One of several objects with different `kind`: an error is about the one that was meant, not about all of them. */
export function byKind<T extends TSchema[]>(variants: [...T]) {
  return Type.Unsafe<Static<T[number]>>({
    type: 'object',
    discriminator: { propertyName: 'kind' },
    required: ['kind'],
    oneOf: variants,
  })
}
