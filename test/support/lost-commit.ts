import { type AddressInfo, connect, createServer } from 'node:net'
import { onTestFinished, vi } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import type { Ledger, Tx } from '../../src/ledger/index.ts'

/** When the connection breaks: on the way to the server, or on the way back. */
export type Moment = 'before the commit' | 'after the commit'

/**
 * The next transaction of this ledger ends as if its connection had broken at the commit; of those that are committed, the next
 * that is meant. For both ledgers.
 */
export function loseCommit(
  ledger: Ledger,
  moment: Moment,
  isMeant: () => Promise<boolean> = async () => true,
): void {
  const transaction = ledger.transaction.bind(ledger)
  const outage = new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the connection broke at the commit')
  const spy = vi.spyOn(ledger, 'transaction')
  spy.mockImplementation(async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const result = await transaction(async (tx) => {
      const done = await work(tx)
      if (moment === 'before the commit') throw outage
      return done
    }).finally(() => moment === 'before the commit' && spy.mockRestore())
    if (!(await isMeant())) return result
    spy.mockRestore()
    throw outage
  })
}

/** An address of a PostgreSQL on which the connection of the next commit breaks, once `arm` was called. */
export async function cutAtCommit(url: string) {
  const address = new URL(url)
  const { hostname: host, port } = address
  let armed: Moment | undefined
  const proxy = createServer((caller) => {
    const server = connect({ host, port: Number(port) })
    const end = () => {
      caller.destroy()
      server.destroy()
    }
    let swallows = false
    for (const socket of [caller, server]) socket.on('error', end).on('close', end)
    caller.on('data', (sent) => {
      if (armed && sent.includes('commit')) {
        const moment = armed
        armed = undefined
        if (moment === 'before the commit') return end()
        swallows = true
      }
      server.write(sent)
    })
    server.on('data', (answer) => {
      if (swallows) end()
      else caller.write(answer)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  address.hostname = '127.0.0.1'
  address.port = String((proxy.address() as AddressInfo).port)
  return { url: address.href, arm: (moment: Moment) => (armed = moment) }
}
