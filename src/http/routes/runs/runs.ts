import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  NewAccount,
  OneAccount,
  OneRun,
  Run,
  RunKind,
  type Runs,
  RunsState,
  ShortRun,
  StoredAccount,
} from '../../../runs/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { accountDetailRoutes } from './account-details.ts'
import { runBulkRoutes } from './run-bulk.ts'

const config = { access: 'runs' } as const
const tags = ['runs']

/** Accounts and their runs: one list for the whole installation. */
export function runRoutes(deps: HttpDeps, runs: Runs): FastifyPluginAsyncTypebox {
  const { ledger, idempotency, trail } = deps
  return async (app) => {
    await app.register(runBulkRoutes(deps, runs))
    await app.register(accountDetailRoutes(deps, runs))

    app.put(
      '/api/accounts/:handle',
      {
        config,
        schema: {
          tags,
          operationId: 'putAccount',
          summary: 'Make or change an account; refused while its run is queued or running',
          params: OneAccount,
          body: NewAccount,
          response: { 200: StoredAccount },
        },
      },
      (request) => {
        const { url, params = {} } = request.body
        return ledger.transaction((tx) => runs.putAccount(tx, request.params.handle, url, params))
      },
    )

    app.delete(
      '/api/accounts/:handle',
      {
        config,
        schema: {
          tags,
          operationId: 'deleteAccount',
          summary: 'Take an account off the list; its files stay',
          params: OneAccount,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await ledger.transaction((tx) => runs.deleteAccount(tx, request.params.handle))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/runs',
      {
        config: { ...config, idempotent: true },
        schema: {
          tags,
          operationId: 'createRun',
          summary:
            'Fetch an account: from the beginning, on from where the last run stopped, or only what failed',
          body: Type.Object(
            { handle: Type.String({ minLength: 1 }), kind: RunKind },
            {
              title: 'RunRequest',
              additionalProperties: false,
              examples: [{ handle: 'anna', kind: 'start' }],
            },
          ),
          response: { 202: ShortRun },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { handle, kind } = request.body
          const { runId, state } = await runs.start(tx, handle, kind)
          const body = () => ({ run_id: runId, handle, state: state() })
          return { status: 202, body: body(), committed: body, headers: { Location: `/api/runs/${runId}` } }
        }),
    )

    app.post(
      '/api/runs/:run_id/cancel',
      {
        config: { ...config, idempotent: true },
        schema: {
          tags,
          operationId: 'cancelRun',
          summary: 'Take a run out of the queue, or stop it; finished files of this run are kept or deleted',
          params: OneRun,
          body: Type.Optional(
            Type.Union([
              Type.Object(
                { files: Type.Optional(Type.Union([Type.Literal('keep'), Type.Literal('delete')])) },
                { additionalProperties: false },
              ),
              Type.Null(),
            ]),
          ),
          response: { 202: ShortRun },
        },
      },
      (request, reply) =>
        idempotency.answer(request, reply, async (tx) => {
          const { run_id } = request.params
          await runs.cancel(tx, run_id, request.body?.files ?? 'keep')
          return { status: 202, body: short(await runs.runIn(tx, run_id)) }
        }),
    )

    app.get(
      '/api/runs/:run_id',
      {
        config,
        schema: { tags, operationId: 'getRun', summary: 'One run', params: OneRun, response: { 200: Run } },
      },
      (request) => runs.run(request.params.run_id),
    )

    app.put(
      '/api/settings/max_concurrent',
      {
        config: { access: 'admin' },
        schema: {
          tags,
          operationId: 'setMaxConcurrent',
          summary: 'How many runs may go on at once, over all instances',
          body: Type.Object(
            { value: Type.Integer({ minimum: 1, maximum: 1_000 }) },
            { additionalProperties: false },
          ),
          response: { 200: Type.Object({ value: Type.Integer() }) },
        },
      },
      async (request) => {
        const { value } = request.body
        await ledger.transaction(async (tx) => {
          await runs.setMaxConcurrent(tx, value)
          trail.record(tx, request)
        })
        return { value }
      },
    )

    app.get(
      '/api/state',
      {
        config,
        schema: {
          tags,
          operationId: 'getRunsState',
          summary: 'Everything at one moment, with the seq from which events go on',
          response: { 200: RunsState },
        },
      },
      () => runs.state(),
    )
  }
}

function short({ run_id, handle, state }: { run_id: string; handle: string; state: string }) {
  return { run_id, handle, state }
}
