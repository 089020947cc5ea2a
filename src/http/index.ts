export { DiskRoom } from './disk-room.ts'
export type { HttpServerDeps } from './http-deps.ts'
export type { MetricsAccess } from './metrics-server.ts'
export { HttpServer, type HttpServerOptions } from './server.ts'
