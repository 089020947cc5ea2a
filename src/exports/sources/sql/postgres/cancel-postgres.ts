import { connect } from 'node:net'

/** What a client knows of its session; without a process id there is none yet. */
export interface RunningClient {
  host: string
  port: number
  processID: number | null
  secretKey: number | Buffer | null
}

const CANCEL_REQUEST = 80_877_102
const PATIENCE_MS = 5_000

/** Ends what a session is at. The request goes over a connection of its own, and PostgreSQL answers by closing that. */
export function cancelPostgres({ host, port, processID, secretKey }: RunningClient): Promise<void> {
  if (processID === null || secretKey === null) return Promise.resolve()
  const secret = typeof secretKey === 'number' ? int32(secretKey) : secretKey
  const request = Buffer.concat([int32(12 + secret.length), int32(CANCEL_REQUEST), int32(processID), secret])
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.end(request))
    socket.setTimeout(PATIENCE_MS, () => socket.destroy())
    // A server that cannot be asked ends the query by its time-out.
    socket.on('error', () => undefined)
    socket.on('data', () => undefined)
    socket.on('close', () => resolve())
  })
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
