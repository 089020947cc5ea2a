import type { TransferTarget } from '../../carrier.ts'
import { agentPeerId } from '../wire/index.ts'
import type { SwarmTarget } from './swarm-store.ts'

/** One entry an agent, however many users and directories it shall put the file to. */
export function targetsOf(
  targets: readonly TransferTarget[],
  { code, message }: { code: number; message: string },
): SwarmTarget[] {
  const byKey = new Map<string, SwarmTarget>()
  for (const { agentId, containerId, user, directory } of targets) {
    const key = agentPeerId(agentId, containerId)
    const target = byKey.get(key) ?? { key, agentId, containerId, places: [], code, message }
    const isNew = !target.places.some((place) => place.user === user && place.directory === directory)
    if (isNew) target.places.push({ user, directory })
    byKey.set(key, target)
  }
  return [...byKey.values()]
}
