import { expect, onTestFinished } from 'vitest'
import { AppError, type Clock, type ErrorKind, systemClock } from '../../src/kernel/index.ts'
import type { AllowList } from '../../src/net/guard/allow-hosts.ts'
import type { Resolver } from '../../src/net/guard/index.ts'
import type { HttpClientOptions } from '../../src/net/http-client.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY, readAll } from '../../src/net/index.ts'

interface Setup extends HttpClientOptions {
  allow?: AllowList
  resolver?: Resolver
  clock?: Clock
}

export function setup({ allow = LOOPBACK_ONLY, resolver, clock = systemClock, ...options }: Setup = {}) {
  const client = new HttpClient(
    { guard: new AddressGuard(allow), clock, ...(resolver ? { resolver } : {}) },
    options,
  )
  onTestFinished(() => client.close())
  return client
}

export async function failure(promise: Promise<unknown>, kind: ErrorKind): Promise<AppError> {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw error
  expect(error.code).toBe(kind.code)
  return error
}

export const text = async (client: HttpClient, url: string) =>
  (await readAll((await client.request({ url })).body, 1_000)).toString()
