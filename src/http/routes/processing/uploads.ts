import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import type { Processing, UploadServer } from '../../../processing/index.ts'
import { languageOf, PROBLEM_TYPE, toProblem } from '../../answers/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { UPLOAD } from '../../openapi/index.ts'

const UPLOADS = '/api/uploads'
const tags = ['processing']

/** tus 1.0. The bodies belong to its server, so none of Fastify's parsers may touch them. */
export function uploadRoutes({ log }: HttpDeps, processing: Processing): FastifyPluginAsyncTypebox {
  let opened: Promise<UploadServer> | undefined
  const server = () => {
    opened ??= processing.openUploads({
      path: UPLOADS,
      problemType: PROBLEM_TYPE,
      problemOf: (error, status, { requestId, language }) =>
        JSON.stringify({ ...toProblem(error, requestId, language), status }),
    })
    return opened
  }
  const uploaderOf = (request: FastifyRequest) => {
    const key = request.headers['idempotency-key']
    const projectId = request.principal?.role === 'project' ? request.principal.project.id : null
    const language = languageOf(request)
    return {
      projectId,
      requestId: request.id,
      language,
      ...(typeof key === 'string' && { idempotencyKey: key }),
    }
  }
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    try {
      await (await server()).answer(request.raw, reply.raw, uploaderOf(request))
    } catch (error) {
      // The answer is under way, or the caller is gone: nothing can be told any more.
      log.debug({ err: error }, 'an upload request broke off')
      reply.raw.destroy()
    }
  }
  const params = Type.Object({ upload_id: Type.String() })
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))

    app.post(
      UPLOADS,
      {
        config: { file: true, idempotent: true, documented: UPLOAD.create },
        schema: {
          tags,
          operationId: 'createUpload',
          summary: 'Begin a resumable upload (tus 1.0); its id becomes the id of its task',
        },
      },
      async (request, reply) => {
        const before = await (await server()).madeBefore(uploaderOf(request))
        if (!before) return answer(request, reply)
        const asked = request.headers['upload-length']
        if (before.size !== undefined && asked !== undefined && Number(asked) !== before.size) {
          throw new AppError(
            ERRORS.IDEMPOTENCY_KEY_REUSED,
            'this Idempotency-Key was used for another upload',
          )
        }
        const headers = {
          Location: before.location,
          'Upload-Offset': String(before.offset),
          'Tus-Resumable': '1.0.0',
          'Idempotency-Replayed': 'true',
        }
        return reply.code(201).headers(headers).send()
      },
    )

    app.head(
      `${UPLOADS}/:upload_id`,
      {
        config: { swagger: { exposeHeadRoute: true }, documented: UPLOAD.offset },
        schema: { tags, operationId: 'getUploadOffset', summary: 'How far an upload is', params },
      },
      answer,
    )

    app.patch(
      `${UPLOADS}/:upload_id`,
      {
        config: { file: true, documented: UPLOAD.piece },
        schema: { tags, operationId: 'sendUploadPiece', summary: 'Send the next piece', params },
      },
      answer,
    )
    app.delete(
      `${UPLOADS}/:upload_id`,
      {
        config: { documented: UPLOAD.remove },
        schema: { tags, operationId: 'deleteUpload', summary: 'Give an upload up', params },
      },
      answer,
    )
    app.options(
      UPLOADS,
      {
        config: { access: 'open', documented: UPLOAD.options },
        schema: { tags, operationId: 'getUploadOptions', summary: 'What the server can do' },
      },
      answer,
    )
  }
}
