export { AddressGuard, type Verdict } from './address-guard.ts'
export { type AllowList, LOOPBACK_ONLY, NOTHING_PRIVATE, parseAllowHosts } from './allow-hosts.ts'
export { limitBytes, readAll } from './body-reader.ts'
export {
  HttpClient,
  type HttpClientDeps,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
  type HttpTimeouts,
} from './http-client.ts'
export { expectOk } from './http-error.ts'
export { openOtlpExporter } from './open-otlp.ts'
export { ownSamples } from './request-check.ts'
export type { ResolvedAddress, Resolver } from './resolver.ts'
export { type RetryOptions, withRetry } from './retry.ts'
export { parseRetryAfter } from './retry-after.ts'
export { type SignatureHeaders, signCallback, signPull } from './signing.ts'
