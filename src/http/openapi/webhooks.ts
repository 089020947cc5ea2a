import { Type } from 'typebox'
import { ExportTask } from '../../exports/index.ts'
import { Time } from '../routes/schemas.ts'

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

const Callback = Type.Object(
  {
    type: Type.Enum(['export.succeeded', 'export.failed', 'export.cancelled']),
    timestamp: Time,
    data: ExportTask,
  },
  { title: 'ExportCallback' },
)

/** What Wharf sends to the `callback` of a request. */
export const WEBHOOKS = {
  exportEnded: {
    post: {
      operationId: 'exportEnded',
      tags: ['exports'],
      summary: 'An export has ended',
      description:
        'Sent to `callback` of the request, signed with the `webhook_secret` of the project by Standard Webhooks 1.0. An answer other than 2xx is tried again at growing intervals, for about two days.',
      security: [],
      parameters: [
        header('webhook-id', 'Stays the same over all attempts', 'msg_0192f3'),
        header('webhook-timestamp', 'Seconds since 1970', '1767225600'),
        header(
          'webhook-signature',
          '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; one per secret that is good, separated by blanks',
          'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
        ),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: Callback } } },
      responses: {
        '2XX': { description: 'Received; it is not sent again' },
        '4XX': { description: 'It is sent again later' },
        '5XX': { description: 'It is sent again later' },
      },
    },
  },
}
