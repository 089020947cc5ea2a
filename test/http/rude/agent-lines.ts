import type { Socket } from 'node:net'
import { agentLine } from '../../support/agents.ts'
import type { Tricklers } from './attacks.ts'
import { frame } from './lines.ts'
import type { RudeServer } from './rude-server.ts'

const REPORT = '{"type":"report","tasks":[]}'

/** How an agent that was let in may leave its server alone; true: its line stays open. */
const ENDS: Record<string, (line: Socket, tricklers: Tricklers) => boolean> = {
  resets: (line) => {
    line.resetAndDestroy()
    return false
  },
  'hangs up': (line) => {
    line.destroy()
    return false
  },
  'breaks off in a message': (line) => {
    line.write(frame(REPORT, 9))
    line.resetAndDestroy()
    return false
  },
  'is half-open': (line) => {
    line.end()
    return true
  },
  'falls silent in a message': (line) => {
    line.write(frame(REPORT, 9))
    return true
  },
  'reads nothing': (line) => {
    line.pause()
    return true
  },
  'sends byte by byte': (line, tricklers) => {
    tricklers.send(line, frame(REPORT))
    return true
  },
}

/** Agents of this server, one after the other in each of these ways; the lines that stay open. */
export async function rudeAgents({ address, agent }: RudeServer, tricklers: Tricklers): Promise<Socket[]> {
  const held: Socket[] = []
  for (const end of Object.values(ENDS)) {
    const { socket, answered } = await agentLine(address, agent)
    await answered
    const line = Reflect.get(socket, '_socket') as Socket
    if (end(line, tricklers)) held.push(line)
  }
  return held
}
