import { Type } from 'typebox'

/** Of a template or a saved export. */
export const OneName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })

export const DryRun = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Check it and say what would be done; store nothing' })),
})

export const Applied = Type.Object({
  name: Type.String(),
  outcome: Type.Enum(['created', 'changed', 'unchanged']),
})
