import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { AllowList } from '../../../src/carriers/swarm/agent/place/index.ts'
import { RESULT } from '../../../src/carriers/swarm/wire/index.ts'
import { setupSwarm, targetsFor, untilConnected, untilOver } from '../../support/swarm.ts'

const OWN = userInfo().username
const list = (projects: string[], users: string[]) => new AllowList({ projects, users })

test('nothing is allowed by default', async () => {
  expect(() => list([], []).checkProject('p1')).toThrow('--allow-project')
  for (const user of ['', OWN, 'root', 'nobody'])
    await expect(list(['*'], []).checkUser(user)).rejects.toMatchObject({ code: RESULT.USER_REFUSED })
})

test('a project is allowed by its id, or with all others', () => {
  expect(() => list(['p1', 'p2'], []).checkProject('p2')).not.toThrow()
  expect(() => list(['*'], []).checkProject('p3')).not.toThrow()
  for (const almost of ['p', 'p11', 'P1', '', '*'])
    expect(() => list(['p1'], []).checkProject(almost)).toThrow()
})

test('no name is the user that the agent runs as, and must be on the list too', async () => {
  await list([], [OWN]).checkUser('')
  await list([], [OWN]).checkUser(OWN)
  await expect(list([], ['*']).checkUser('')).rejects.toThrow('--allow-user')
  await expect(list([], ['nobody']).checkUser('')).rejects.toThrow('--allow-user')
})

test.runIf(process.getuid?.() === 0)('root under any name is root', async () => {
  await list([], ['root']).checkUser('root')
  // The system takes a number for a name.
  await expect(list([], ['0']).checkUser('0')).rejects.toThrow('writes no files as root')
  await list([], ['nobody']).checkUser('nobody')
})

test('an agent refuses what its owner did not allow, each target by its own code', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const agents = [
    await swarm.agent(server, 'nothing', { allow: { projects: [], users: [] } }),
    await swarm.agent(server, 'other-project', { allow: { projects: ['p2'], users: [OWN] } }),
    await swarm.agent(server, 'other-user', { allow: { projects: ['p1'], users: ['nobody-else'] } }),
    await swarm.agent(server, 'open', { allow: { projects: ['p1'], users: [OWN] } }),
  ]
  await untilConnected(server.engine, agents.length)
  const file = swarm.file(1_000)
  const { engineTaskId } = await server.engine.start(
    {
      projectId: 'p1',
      localPath: file.path,
      fileName: 'file.bin',
      size: file.size,
      signature: file.signature,
      targets: targetsFor(agents),
      timeoutSeconds: 3600,
    },
    new AbortController().signal,
  )
  const { targets } = await untilOver(server.engine, engineTaskId)
  expect(Object.fromEntries(targets.map(({ agentId, errorCode }) => [agentId, errorCode]))).toEqual({
    nothing: RESULT.PROJECT_REFUSED,
    'other-project': RESULT.PROJECT_REFUSED,
    'other-user': RESULT.USER_REFUSED,
    open: RESULT.DONE,
  })
})
