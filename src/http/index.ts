export type { HttpServerDeps } from './http-deps.ts'
export { HttpServer, type HttpServerOptions } from './server.ts'
