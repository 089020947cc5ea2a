import { Type } from 'typebox'
import { MASKS } from '../../../exports/index.ts'
import { ProjectView, QUOTAS, type Quota, QuotaUsage, ShownName } from '../../../tenancy/index.ts'
import { nullable, Time } from '../schemas.ts'

const BizId = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })

const Limit = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** null: as the settings say. */
const GivenQuotas = Type.Object(
  Object.fromEntries(QUOTAS.map((quota) => [quota, Type.Optional(nullable(Limit))])) as Record<
    Quota,
    ReturnType<typeof optionalLimit>
  >,
  {
    title: 'QuotaChanges',
    additionalProperties: false,
    description: 'null: as the settings say; what is left out stays as it is',
  },
)

function optionalLimit() {
  return Type.Optional(nullable(Limit))
}

const Masks = Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.Enum([...MASKS]), {
  description: 'by column name: how its values are hidden in every file, whatever a template says',
  maxProperties: 1_000,
})

export const Usage = Type.Object(
  {
    project_id: Type.String(),
    resets_at: Time,
    quotas: Type.Array(QuotaUsage),
  },
  { title: 'ProjectUsage' },
)

export const ProjectDetails = Type.Intersect(
  [
    ProjectView,
    Type.Object({
      biz_ids: Type.Array(BizId, { description: 'what transfers may name as biz_id' }),
      quotas: Type.Array(QuotaUsage),
      masks: Masks,
    }),
  ],
  { title: 'ProjectDetails' },
)

export const ProjectChanges = Type.Object(
  {
    quotas: Type.Optional(GivenQuotas),
    masks: Type.Optional(Masks),
    biz_ids: Type.Optional(
      Type.Array(BizId, {
        maxItems: 10_000,
        uniqueItems: true,
        description: 'exactly these belong to the project: taken from others, and free again when left out',
      }),
    ),
  },
  {
    title: 'ProjectChanges',
    examples: [{ quotas: { exports_at_once: 4 }, masks: { phone: 'phone' }, biz_ids: [7] }],
    additionalProperties: false,
  },
)

export const NewProject = Type.Object(
  { name: ShownName },
  { title: 'ProjectRequest', examples: [{ name: 'ERP' }], additionalProperties: false },
)

export const OneKey = Type.Object({ project_id: Type.String(), key_id: Type.String() })
