import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import type { buildConnector } from 'undici'
import { AppError, ERRORS, messageOf, orAborted, startDeadline, systemClock } from '../../kernel/index.ts'
import type { AddressGuard } from './address-guard.ts'
import { bareHost } from './host-name.ts'
import type { ResolvedAddress, Resolver } from './resolver.ts'

/** What decides about each address; `undefined` lets every one pass and is for Wharf's own sample source only. */
export type ConnectGuard = Pick<AddressGuard, 'decide'> | undefined

/**
 * The connect function of an undici Agent. A name is resolved once, every address is judged, and the socket goes to one
 * of those judged addresses: a name that resolves differently a moment later gains nothing. Address literals pass
 * through here as well, whereas a `lookup` hook would never see them. SNI, certificate check and Host keep the name.
 */
export function guardedConnect(
  deps: { guard: ConnectGuard; resolver: Resolver },
  { timeoutMs }: { timeoutMs: number },
): buildConnector.connector {
  return (options, callback) => {
    const host = bareHost(options.hostname)
    const secure = options.protocol === 'https:'
    const port = Number(options.port) || (secure ? 443 : 80)
    open(deps, { host, port, secure, servername: options.servername || host }, timeoutMs).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(messageOf(error)), null),
    )
  }
}

interface Target {
  host: string
  port: number
  secure: boolean
  servername: string
}

async function open(
  deps: { guard: ConnectGuard; resolver: Resolver },
  target: Target,
  timeoutMs: number,
): Promise<Socket> {
  const late = () =>
    new AppError(
      ERRORS.CONNECT_FAILED,
      `no connection to ${target.host}:${target.port} within ${timeoutMs} ms`,
    )
  const deadline = startDeadline(systemClock, timeoutMs, late)
  let socket: Socket | undefined
  try {
    const addresses = await orAborted(judged(deps, target), deadline.signal)
    socket = dial(target, addresses)
    return await orAborted(connected(socket, target), deadline.signal)
  } catch (error) {
    if (deadline.signal.aborted) socket?.destroy(deadline.signal.reason)
    throw error
  } finally {
    deadline.clear()
  }
}

/** The addresses of a host that the guard lets pass; throws if none is left. */
export async function judged(
  { guard, resolver }: { guard: ConnectGuard; resolver: Resolver },
  { host, port }: { host: string; port: number },
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  const found = family === 0 ? await resolver(host) : [{ address: host, family }]
  if (found.length === 0) throw new AppError(ERRORS.HOST_UNRESOLVED, `the host name ${host} has no address`)
  if (!guard) return found
  const verdicts = found.map((entry) => ({ entry, verdict: guard.decide(entry.address, host, port) }))
  const allowed = verdicts.filter(({ verdict }) => verdict.allowed)
  const refused = verdicts.find(({ verdict }) => !verdict.allowed)
  if (allowed.length === 0 && refused) throw addressRefused(host, refused.verdict.reason)
  return allowed.map(({ entry }) => entry)
}

export function addressRefused(host: string, reason: string): AppError {
  const is = isIP(host) === 0 ? 'resolves to' : 'is'
  return new AppError(
    ERRORS.ADDRESS_REFUSED,
    `${host} ${is} ${reason}; to let Wharf reach it, add it to the setting WHARF_ALLOW_HOSTS`,
    { retryable: false },
  )
}

function dial(target: Target, addresses: readonly ResolvedAddress[]): Socket {
  // Node asks this "lookup" for names only, and gets what was judged above, whatever DNS would say by now.
  const lookup: LookupFunction = (_name, options, done) => {
    const [first] = addresses
    if (options.all) done(null, [...addresses])
    else done(null, first?.address ?? '', first?.family)
  }
  const common = { host: target.host, port: target.port, lookup, autoSelectFamily: true }
  if (!target.secure) return netConnect(common)
  const servername = isIP(target.servername) ? '' : target.servername
  return tlsConnect({ ...common, servername, ALPNProtocols: ['http/1.1'] })
}

async function connected(socket: Socket, target: Target): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once(target.secure ? 'secureConnect' : 'connect', resolve)
  socket.once('error', reject)
  try {
    await promise
  } catch (cause) {
    const where = `${target.host}:${target.port}`
    throw new AppError(ERRORS.CONNECT_FAILED, `cannot connect to ${where}: ${reasonOf(cause)}`, { cause })
  }
  socket.off('error', reject)
  // undici listens from the next tick on; an error before that must not end the process.
  socket.on('error', () => undefined)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
  return socket
}

function reasonOf(cause: unknown): string {
  // With several addresses Node gathers one error for each.
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return messageOf(cause)
}
