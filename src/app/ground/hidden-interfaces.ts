import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { type Log, messageOf } from '../../kernel/index.ts'

/**
 * Where a sandbox hides the machine's network interfaces (no AF_NETLINK), listing them throws. Fastify lists them for its log
 * when it listens on all addresses, in an event handler, which would end the process. From here on there are none.
 */
export function allowHiddenInterfaces(log: Log): void {
  try {
    os.networkInterfaces()
  } catch (error) {
    log.warn(
      `the network interfaces of this machine cannot be listed (${messageOf(error)}): exports from its own samples know it by its host name alone; allow AF_NETLINK (RestrictAddressFamilies= of systemd)`,
    )
    os.networkInterfaces = () => ({})
    syncBuiltinESMExports()
  }
}
