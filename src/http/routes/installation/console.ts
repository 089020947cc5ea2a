import type { FastifyPluginAsync } from 'fastify'
import { sendAsset, sendConsolePage } from '../../console/index.ts'

/** The console: one page at the root (and, through the not-found handler, at each of its own addresses) and its files. */
export const consoleRoutes: FastifyPluginAsync = async (app) => {
  const options = { config: { access: 'open' as const, unlimited: true }, schema: { hide: true } }
  app.get('/', options, (_request, reply) => sendConsolePage(reply))
  app.get<{ Params: { file: string } }>('/assets/:file', options, sendAsset)
}
