export type { HttpDeps } from './http-deps.ts'
export { DiskRoom, type SharedCounts } from './limits/index.ts'
export type { MetricsAccess } from './metrics/index.ts'
export {
  connectionRoutes,
  exportRoutes,
  savedExportRoutes,
  templateRoutes,
} from './routes/exports/index.ts'
export { processingRoutes } from './routes/processing/processing.ts'
export { runRoutes } from './routes/runs/runs.ts'
export { transferRoutes } from './routes/transfers/transfers.ts'
export { HttpServer, type HttpServerOptions } from './server.ts'
export { IdentityProvider } from './sign-in/identity-provider.ts'
