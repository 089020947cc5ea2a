/** As much of it as the tests use; it has no types of its own. */
declare module 'json-server' {
  import type { Server } from 'node:http'

  interface App {
    use(handler: unknown): App
    listen(port: number, host: string, done: () => void): Server
  }
  const jsonServer: { create(): App; router(database: object): unknown }
  export default jsonServer
}
