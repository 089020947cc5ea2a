import { Type } from 'typebox'
import { EXPORT_TYPES, ExportFields, ExportTask, Template } from '../../../exports/index.ts'
import { Delivery, NotifyWish } from '../../../notify/index.ts'
import { QUOTAS } from '../../../tenancy/index.ts'

import { nullable, pageOf, Time } from '../schemas.ts'

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

export const RenderBody = Type.Object(
  {
    type: Type.Optional(Type.Enum([...EXPORT_TYPES], { description: 'Default: that of the export' })),
    template: Type.Optional(Template),
    file_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { title: 'RenderRequest', examples: [{ type: 'csv', file_name: 'orders' }], additionalProperties: false },
)

export const ExportPage = pageOf(ExportTask, 'ExportPage')

export const Deliveries = Type.Object({ items: Type.Array(Delivery) }, { title: 'ExportDeliveries' })

export const Downloads = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        at: Time,
        who: Type.String(),
        address: Type.String(),
        bytes: Type.Integer(),
        complete: Type.Boolean(),
      }),
    ),
  },
  { title: 'ExportDownloads' },
)

/** The report with its signature. Members that a signature covers must arrive as they are: nothing is left out. */
export const Manifest = Type.Object(
  {
    format: Type.String(),
    signature: Type.Object({
      algorithm: Type.String(),
      key_id: Type.String(),
      public_key: Type.String(),
      value: Type.String({ description: 'of everything else as canonical JSON (RFC 8785), base64url' }),
    }),
  },
  { title: 'ExportManifest', additionalProperties: true },
)

export const KeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        crv: Type.Optional(Type.String()),
        x: Type.Optional(Type.String()),
        kid: Type.Optional(Type.String()),
        use: Type.Optional(Type.String()),
        alg: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'ManifestKeys' },
)

export const Place = Type.Object(
  {
    position: Type.Integer({ description: '0 when it runs or is about to; 1 is next' }),
    running: Type.Integer(),
    limit: nullable(Type.Integer()),
    held_by: Type.Enum(['nothing', 'exports_at_once', 'quota'], {
      description:
        'exports_at_once: the limit of the installation; quota: one of the project, named by `quota`',
    }),
    quota: nullable(Type.Enum([...QUOTAS])),
  },
  { title: 'ExportPosition' },
)

export const Preview = Type.Object(
  { tables: Type.Array(Type.Unknown({ title: 'TablePreview' })), warnings: Type.Array(Type.String()) },
  { title: 'ExportPreview' },
)
