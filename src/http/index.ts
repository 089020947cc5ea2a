export { DiskRoom, type SharedCounts } from './limits/index.ts'
export type { MetricsAccess } from './metrics/index.ts'
export { HttpServer } from './server.ts'
export { IdentityProvider } from './sign-in/identity-provider.ts'
