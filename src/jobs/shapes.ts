import { type TSchema, Type } from 'typebox'

/** Shapes in the answers of more than one domain. */
export const Time = Type.String({ format: 'date-time' })

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Failure = Type.Object({ code: Type.String(), message: Type.String() }, { title: 'Failure' })

/** How every list answers; `title` is its name in the API document. */
export const pageOf = <T extends TSchema>(item: T, title: string) =>
  Type.Object({ items: Type.Array(item), next_cursor: nullable(Type.String()) }, { title })
