import { type Static, Type } from 'typebox'
import {
  BULK_ACTIONS,
  Download,
  EXPORT_TYPES,
  ExportFields,
  type ExportFilter,
  ExportState,
  ExportTask,
} from '../../../exports/index.ts'
import { Failure } from '../../../jobs/index.ts'
import { Delivery, NotifyWish } from '../../../notify/index.ts'
import { nullable, pageOf } from '../schemas.ts'

export const ExportRequestBody = Type.Object(
  { ...ExportFields.properties, notify: Type.Optional(NotifyWish) },
  {
    title: 'ExportRequest',
    examples: [
      {
        source_url: 'https://erp.example.com/api/orders?month=2026-01',
        type: 'excel',
        file_name: 'orders-2026-01',
        title: 'Orders of January',
        header: { Source: 'ERP', Month: '2026-01' },
        template: [
          { name: 'id', title: 'Order' },
          {
            title: 'Amounts',
            children: [
              { name: 'amount', type: 'money', totals: 'sum' },
              { name: 'rate', type: 'percent' },
            ],
          },
        ],
        callback: 'https://erp.example.com/hooks/wharf',
      },
    ],
    additionalProperties: false,
  },
)

export const ExportPage = Type.Object(
  {
    ...pageOf(ExportTask, '').properties,
    total: Type.Optional(
      Type.Object(
        {
          count: Type.Integer(),
          exact: Type.Boolean({ description: 'false: there are more than `count`' }),
        },
        { title: 'ListTotal' },
      ),
    ),
  },
  { title: 'ExportPage' },
)

/** What a list of exports, or something done to many of them, may leave out. */
export const ExportFilterFields = {
  status: Type.Optional(ExportState),
  operator_id: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(Type.Enum([...EXPORT_TYPES])),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'asked for at this time or later' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'asked for before this time' })),
  ended_from: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'ended at this time or later, in the order of `finished`; over all projects together with the `status` of an end',
    }),
  ),
  search: Type.Optional(
    Type.String({
      description: "part of the file's name, the title, the saved export, the operator or the id",
      maxLength: 200,
    }),
  ),
}
const FilterFields = Type.Object(ExportFilterFields)

/** The same as the domain calls it. */
export function filterOf(asked: Static<typeof FilterFields>): Omit<ExportFilter, 'projectId'> {
  const { status, type, search, operator_id, from, to, ended_from } = asked
  return {
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
    ...(search !== undefined && { search }),
    ...(operator_id !== undefined && { operatorId: operator_id }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
    ...(ended_from !== undefined && { endedFrom: Date.parse(ended_from) }),
  }
}

export const BULK_SIZE = 100

export const BulkRequest = Type.Object(
  {
    action: Type.Enum([...BULK_ACTIONS]),
    ids: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: BULK_SIZE })),
    filter: Type.Optional(
      Type.Object(
        { project_id: Type.Optional(Type.String({ maxLength: 200 })), ...ExportFilterFields },
        {
          title: 'ExportFilter',
          additionalProperties: false,
          description: 'in place of ids: all that match and for which the action makes sense',
        },
      ),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'with filter: `next_cursor` of the answer before' }),
    ),
  },
  {
    title: 'ExportBulkRequest',
    examples: [
      { action: 'retry', ids: ['01JH3V6W6Y8E9Z'] },
      { action: 'cancel', filter: { status: 'pending', operator_id: 'anna' } },
    ],
    additionalProperties: false,
  },
)

export const BulkAnswer = Type.Object(
  {
    done: Type.Integer(),
    skipped: Type.Integer(),
    items: Type.Array(
      Type.Object({
        task_id: Type.String(),
        done: Type.Boolean(),
        error: nullable(Failure),
      }),
    ),
    next_cursor: nullable(Type.String({ description: 'not null: ask again with it, there are more' })),
  },
  { title: 'ExportBulkAnswer' },
)

export const Deliveries = Type.Object({ items: Type.Array(Delivery) }, { title: 'ExportDeliveries' })

export const Downloads = Type.Object({ items: Type.Array(Download) }, { title: 'ExportDownloads' })
