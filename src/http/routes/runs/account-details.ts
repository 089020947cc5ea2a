import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  Account,
  AccountFilePage,
  FailedFilePage,
  OneAccount,
  OneFile,
  OneRun,
  RunLogPage,
  RunPage,
  type Runs,
} from '../../../runs/index.ts'
import { sendFile } from '../../answers/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { ACCOUNT_FILE } from '../../openapi/index.ts'
import { paging, wanted } from '../paging.ts'

const config = { access: 'runs' } as const
const tags = ['runs']

/** What belongs to one account: its runs, its files, what failed. */
export function accountDetailRoutes({ trail }: HttpDeps, runs: Runs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/accounts/:handle',
      {
        config,
        schema: {
          tags,
          operationId: 'getAccount',
          summary: 'One account, with its last run',
          params: OneAccount,
          response: { 200: Account },
        },
      },
      (request) => runs.account(request.params.handle),
    )

    app.get(
      '/api/accounts/:handle/runs',
      {
        config,
        schema: {
          tags,
          operationId: 'listAccountRuns',
          summary: 'The runs of an account of the last 30 days, newest first',
          params: OneAccount,
          querystring: Type.Object(paging),
          response: { 200: RunPage },
        },
      },
      (request) => runs.runsOf(request.params.handle, wanted(request.query)),
    )

    app.get(
      '/api/accounts/:handle/files',
      {
        config,
        schema: {
          tags,
          operationId: 'listAccountFiles',
          summary: 'What was fetched for an account, by name',
          params: OneAccount,
          querystring: Type.Object(paging),
          response: { 200: AccountFilePage },
        },
      },
      (request) => runs.files(request.params.handle, wanted(request.query)),
    )

    app.get(
      '/api/accounts/:handle/failed-files',
      {
        config,
        schema: {
          tags,
          operationId: 'listFailedFiles',
          summary:
            'What could not be fetched for an account, by name; a run of kind `retry` tries these again',
          params: OneAccount,
          querystring: Type.Object(paging),
          response: { 200: FailedFilePage },
        },
      },
      (request) => runs.failedFiles(request.params.handle, wanted(request.query)),
    )

    app.get(
      '/api/accounts/:handle/files/:item_id',
      {
        config: { ...config, documented: ACCOUNT_FILE },
        schema: {
          tags,
          operationId: 'downloadAccountFile',
          summary: 'One fetched file; takes Range',
          params: OneFile,
        },
      },
      async (request, reply) => {
        const { handle, item_id } = request.params
        const { name, size, open } = await runs.file(handle, item_id)
        if (request.method === 'GET') await trail.prepare(request)()
        return sendFile(request, reply, { open, domain: 'runs', fileName: name, size })
      },
    )

    app.get(
      '/api/runs/:run_id/log',
      {
        config,
        schema: {
          tags,
          operationId: 'listRunLog',
          summary: 'What a run said of itself, newest first',
          params: OneRun,
          querystring: Type.Object(paging),
          response: { 200: RunLogPage },
        },
      },
      (request) => runs.log(request.params.run_id, wanted(request.query)),
    )
  }
}
