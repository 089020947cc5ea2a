import { lookup } from 'node:dns/promises'
import { AppError, ERRORS } from '../../kernel/index.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Every address of a host name, in the order in which they should be tried. */
export type Resolver = (host: string) => Promise<readonly ResolvedAddress[]>

/** Asks the operating system, so that its hosts file and search domains hold here too. */
export const systemResolver: Resolver = async (host) => {
  try {
    return await lookup(host, { all: true, order: 'verbatim' })
  } catch (cause) {
    throw new AppError(ERRORS.HOST_UNRESOLVED, `the host name ${host} cannot be resolved`, { cause })
  }
}
