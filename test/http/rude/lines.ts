import type { Socket } from 'node:net'
import { firstBytes, nextTurn, openConnection, upgradeHead } from '../../support/raw-connection.ts'
import { grpcCalls } from './grpc-calls.ts'
import type { RudeServer } from './rude-server.ts'

/** A client's text frame, or as much of it as is wanted; masked with zeros. */
export function frame(text: string, sent = text.length): Buffer {
  const body = Buffer.from(text)
  const size = Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 0xff, 0, 0, 0, 0])
  return Buffer.concat([size, body.subarray(0, sent)])
}

const HELLO = JSON.stringify({ type: 'hello', nonce: 'x', signature: 'x', host: null, port: 1, version: 'x' })

/** What goes over a line that is no plain request: after each part, and after all, the client may be gone. */
export function linesOf({
  address,
  grpc,
  client,
  agentPass,
}: RudeServer): Record<string, { to: string; parts: (string | Buffer)[] }> {
  const events = (query: string, key: string) =>
    upgradeHead(`/ws?${query}`, { Authorization: `Bearer ${key}` })
  const agent = upgradeHead('/ws/agent', { Authorization: `Bearer ${agentPass}` })
  const { key, id } = client.project
  const calls = Object.entries(grpcCalls()).map(([name, parts]) => [`gRPC ${name}`, { to: grpc, parts }])
  return {
    ...Object.fromEntries(calls),
    'events without a key': { to: address, parts: [upgradeHead('/ws?task_id=x')] },
    'events of a project': {
      to: address,
      parts: [events(`project_id=${id}&after=0`, key), frame('x'), frame('xy', 1)],
    },
    'agent without a token': { to: address, parts: [upgradeHead('/ws/agent')] },
    'agent that says hello': {
      to: address,
      parts: [agent, frame(HELLO), frame('{"type":"report","tasks":[]}', 9)],
    },
    'agent that talks rubbish': { to: address, parts: [agent, frame('rubbish')] },
    'agent with a broken frame': { to: address, parts: [agent, Buffer.from([0xff, 0xff, 0xff])] },
    'gRPC rubbish': { to: grpc, parts: ['GET / HTTP/1.1\r\n\r\n'] },
    'HTTP rubbish': { to: address, parts: ['\0\0\0\r\n\r\n'] },
    tunnel: { to: address, parts: ['CONNECT other:1 HTTP/1.1\r\nHost: other\r\n\r\n', 'bytes'] },
    expectation: {
      to: address,
      parts: [
        `PUT /api/repository/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
      ],
    },
  }
}

/** Sends the first parts and resets: at once, and after the server has said something. */
export async function resetLine(
  to: string,
  parts: (string | Buffer)[],
  { answered }: { answered: boolean },
): Promise<void> {
  const socket = await openLine(to, parts)
  if (answered) await firstBytes(socket)
  await nextTurn()
  socket.resetAndDestroy()
}

export async function openLine(to: string, parts: (string | Buffer)[]): Promise<Socket> {
  const socket = await openConnection(to)
  for (const part of parts) {
    socket.write(part)
    await nextTurn()
  }
  return socket
}
