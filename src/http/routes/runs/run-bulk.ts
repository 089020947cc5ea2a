import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { Failure } from '../../../jobs/index.ts'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { readIdCursor, writeIdCursor } from '../../../ledger/index.ts'
import { Account, type Runs } from '../../../runs/index.ts'
import type { HttpDeps } from '../../http-deps.ts'
import { toEach } from '../bulk.ts'
import { nullable } from '../schemas.ts'

const BULK_SIZE = 100
const Handle = Type.String({ minLength: 1, maxLength: 200 })

export const BulkRequest = Type.Object(
  {
    action: Type.Enum(['start', 'continue', 'retry', 'stop']),
    handles: Type.Optional(Type.Array(Handle, { minItems: 1, maxItems: BULK_SIZE })),
    filter: Type.Optional(
      Type.Object(
        {
          state: Type.Optional(Account.properties.state),
          search: Type.Optional(Type.String({ maxLength: 200, description: 'part of the handle' })),
        },
        {
          title: 'AccountFilter',
          additionalProperties: false,
          description: 'in place of handles: all that match and for which the action makes sense',
        },
      ),
    ),
    files: Type.Optional(
      Type.Enum(['keep', 'delete'], {
        description: 'with stop: what becomes of fetched files; keep when missing',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'with filter: `next_cursor` of the answer before' }),
    ),
  },
  {
    title: 'RunBulkRequest',
    examples: [
      { action: 'start', handles: ['anna', 'ben'] },
      { action: 'stop', filter: { state: 'Queued' } },
    ],
    additionalProperties: false,
  },
)

export const BulkAnswer = Type.Object(
  {
    done: Type.Integer(),
    skipped: Type.Integer(),
    items: Type.Array(Type.Object({ handle: Type.String(), done: Type.Boolean(), error: nullable(Failure) })),
    next_cursor: nullable(Type.String({ description: 'not null: ask again with it, there are more' })),
  },
  { title: 'RunBulkAnswer' },
)

/** Starts or stops the runs of many accounts: of those that are named, or of all that match, a page per request. */
export function runBulkRoutes({ ledger, trail }: HttpDeps, runs: Runs): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/api/runs/bulk',
      {
        config: { access: 'runs' },
        schema: {
          tags: ['runs'],
          operationId: 'changeManyRuns',
          summary:
            'Start, continue, retry or stop the runs of up to 100 accounts per request; safe to repeat',
          body: BulkRequest,
          response: { 200: BulkAnswer },
        },
      },
      async (request) => {
        const { action, files = 'keep' } = request.body
        const { accounts } = await runs.state()
        const { handles, next } = chosen(accounts, request.body)
        const current = new Map(accounts.map(({ handle, run_id }) => [handle, run_id]))
        const items = await toEach(handles, (handle) =>
          ledger.transaction(async (tx) => {
            if (action !== 'stop') return runs.start(tx, handle, action)
            const runId = current.get(handle)
            if (runId) return runs.cancel(tx, runId, files)
            throw current.has(handle)
              ? new AppError(ERRORS.RUN_ENDED, `the account '${handle}' has no run that could be stopped`)
              : new AppError(ERRORS.ACCOUNT_NOT_FOUND, `there is no account '${handle}'`)
          }),
        )
        const done = items.filter(({ error }) => error === null)
        await trail.recordMany(
          request,
          done.map(({ id }) => id),
        )
        return {
          done: done.length,
          skipped: items.length - done.length,
          items: items.map(({ id, error }) => ({ handle: id, done: error === null, error })),
          next_cursor: next,
        }
      },
    )
  }
}

function chosen(
  accounts: readonly Static<typeof Account>[],
  { action, handles, filter, cursor }: Static<typeof BulkRequest>,
): { handles: string[]; next: string | null } {
  if ((handles === undefined) === (filter === undefined))
    throw new AppError(ERRORS.REQUEST_INVALID, 'body must have either handles or filter')
  if (filter === undefined && cursor !== undefined)
    throw new AppError(ERRORS.REQUEST_INVALID, 'body must have cursor only with filter')
  if (filter === undefined) return { handles: handles ?? [], next: null }
  const after = readIdCursor(cursor) ?? ''
  const search = filter.search?.toLowerCase() ?? ''
  const all = accounts
    .filter(({ locked }) => locked === (action === 'stop'))
    .filter(({ state }) => filter.state === undefined || state === filter.state)
    .map(({ handle }) => handle)
    .filter((handle) => handle.toLowerCase().includes(search) && handle > after)
    .sort()
  const page = all.slice(0, BULK_SIZE)
  const last = all.length > BULK_SIZE ? page.at(-1) : undefined
  return { handles: page, next: last === undefined ? null : writeIdCursor(last) }
}
