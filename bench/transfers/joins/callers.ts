import { createHash } from 'node:crypto'
import { systemClock } from '../../../src/kernel/index.ts'
import type { Transfers } from '../../../src/transfers/index.ts'

const SIGNATURE = createHash('sha256').update('bench').digest('hex')

export interface Joined {
  seconds: number
  /** How long each caller waited, in milliseconds. */
  waits: number[]
}

/** Callers that come at a given rate, whatever the answers do: the same for every machine that can keep up. */
export async function joinPaced(
  transfers: Transfers,
  projectId: string,
  { file, perSecond, count, callers }: { file: string; perSecond: number; count: number; callers: number },
): Promise<Joined> {
  const waits: number[] = []
  let next = 0
  const began = performance.now()
  const caller = async (number: number) => {
    for (let turn = number; turn < count; turn += callers) {
      const due = began + (turn * 1000) / perSecond
      const early = due - performance.now()
      if (early > 0) await systemClock.sleep(early)
      const asked = performance.now()
      await ask(transfers, projectId, file, next++)
      waits.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)))
  return { seconds: (performance.now() - began) / 1000, waits }
}

function ask(transfers: Transfers, projectId: string, file: string, agent: number) {
  return transfers.request(projectId, {
    biz_id: 1,
    app_id: 1,
    file_path: '/bench',
    file_name: file,
    file_signature: SIGNATURE,
    target_agent_id: `agent-${agent}`,
    target_user: 'root',
    target_file_dir: '/opt/app',
  })
}

/** Asks for `count` targets of one file with `callers` at once. Returns each caller's waits in milliseconds. */
export async function joinMany(
  transfers: Transfers,
  projectId: string,
  { file, from, count, callers }: { file: string; from: number; count: number; callers: number },
): Promise<Joined> {
  const waits: number[] = []
  let next = from
  const began = performance.now()
  const caller = async () => {
    while (next < from + count) {
      const agent = next++
      const asked = performance.now()
      await ask(transfers, projectId, file, agent)
      waits.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: Math.min(callers, count) }, caller))
  return { seconds: (performance.now() - began) / 1000, waits }
}
