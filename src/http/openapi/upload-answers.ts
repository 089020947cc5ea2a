import { Type } from 'typebox'
import type { DocumentedAnswer } from './operation.ts'

const offset = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes received' })
const VERSION = { 'Tus-Resumable': Type.Enum(['1.0.0'], { description: 'The version of tus' }) }
const OFFSET = { ...VERSION, 'Upload-Offset': offset }
const TASK_ID = {
  'Task-Id': Type.String({ description: 'Once complete: the task, whose id is that of the upload' }),
}

/** The headers of tus 1.0, by operation. */
export const UPLOAD = {
  create: {
    headers: {
      ...VERSION,
      'Upload-Length': Type.Optional(offset),
      'Upload-Metadata': Type.Optional(
        Type.String({ description: 'Pairs of a key and a base64 value; `filename` names the file' }),
      ),
    },
    answers: {
      201: {
        description: 'Created',
        headers: { ...VERSION, Location: Type.String({ description: 'Where to send the pieces' }) },
      },
    },
  },
  offset: {
    headers: VERSION,
    answers: {
      200: {
        description: 'How many bytes have been received',
        headers: { ...OFFSET, 'Upload-Length': offset, ...TASK_ID },
      },
    },
  },
  piece: {
    headers: OFFSET,
    answers: { 204: { description: 'Received', headers: { ...OFFSET, ...TASK_ID } } },
  },
  remove: { headers: VERSION, answers: { 204: { description: 'Deleted', headers: VERSION } } },
  options: {
    answers: {
      204: {
        description: 'What the server supports',
        headers: {
          ...VERSION,
          'Tus-Version': Type.String(),
          'Tus-Extension': Type.String(),
          'Tus-Max-Size': Type.Integer(),
        },
      },
    },
  },
} satisfies Record<string, { headers?: object; answers: Record<number, DocumentedAnswer> }>
