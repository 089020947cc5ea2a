import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { fleet, type Instance } from '../support/fleet.ts'
import { until } from '../support/until.ts'

const LEADERSHIP = 20_000

const leaders = (all: readonly Instance[]) => all.filter(({ engine }) => engine.leadership.leads)
const followers = (all: readonly Instance[]) => all.filter(({ engine }) => !engine.leadership.leads)

describe.each(availableBackends())('leadership on %s', (name) => {
  async function three(options = {}) {
    const { instance, advance } = await fleet(name)
    const all = await Promise.all([instance([], options), instance([], options), instance([], options)])
    return { all, advance }
  }

  test('of several instances one leads, however often they try', async () => {
    const { all, advance } = await three()
    expect(leaders(all)).toHaveLength(1)
    const [first] = leaders(all)
    for (let round = 0; round < 5; round++) {
      await advance(LEADERSHIP / 2)
      await Promise.all(all.map(({ engine }) => engine.heartbeat.runOnce()))
      expect(leaders(all)).toEqual([first])
    }
  })

  test('a leader that stops lets another one take over at once', async () => {
    const { all } = await three()
    const [old] = leaders(all)
    await old?.engine.stop()
    const [heir] = followers(all.filter((one) => one !== old))
    await heir?.engine.heartbeat.runOnce()
    expect(leaders(all)).toEqual([heir])
  })

  test('a leader that is not heard of is replaced when its time is over, and steps back', async () => {
    const { all, advance } = await three()
    const [old] = leaders(all)
    const [heir] = followers(all)
    await advance(LEADERSHIP)
    await heir?.engine.heartbeat.runOnce()
    expect(leaders(all)).toEqual([old])
    await advance(1)
    await Promise.all(followers(all).map(({ engine }) => engine.heartbeat.runOnce()))
    expect(leaders(all)).toHaveLength(2)
    await old?.engine.heartbeat.runOnce()
    expect(leaders(all)).toHaveLength(1)
    expect(leaders(all)).not.toContain(old)
  })

  test('with shorter leases a dead leader is replaced sooner, before those leases are out', async () => {
    const { all, advance } = await three({ leaseMs: 3_000 })
    const [old] = leaders(all)
    await advance(3_000)
    await followers(all)[0]?.engine.heartbeat.runOnce()
    await old?.engine.heartbeat.runOnce()
    expect(leaders(all)).toHaveLength(1)
    expect(leaders(all)).not.toContain(old)
  })

  test('an instance that leads no longer neither renews nor releases what another one has', async () => {
    const { all, advance } = await three()
    const [old] = leaders(all)
    await advance(LEADERSHIP + 1)
    const [heir] = followers(all)
    await heir?.engine.heartbeat.runOnce()
    await old?.engine.leadership.resign()
    await followers(all).at(-1)?.engine.heartbeat.runOnce()
    expect(leaders(all)).toEqual([heir])
  })

  test('only the leader has the duties of a leader, and they move with leadership', async () => {
    const { instance, advance } = await fleet(name)
    const runs: [number, number] = [0, 0]
    const member = (index: 0 | 1) =>
      instance([], {
        prepare: (engine) =>
          engine.addLeaderDuty({ name: 'counting', runOnce: async () => void runs[index]++ }, 1_000),
      })
    const a = await member(0)
    const b = await member(1)
    await until('the leader has done its duty', () => runs[0] === 1)
    expect(runs).toEqual([1, 0])
    await advance(LEADERSHIP + 1)
    await b.engine.heartbeat.runOnce()
    await a.engine.heartbeat.runOnce()
    await until('the new leader has done its duty', () => runs[1] === 1)
    a.clock.advance(60_000)
    await until('the old leader sleeps', () => a.clock.sleeping >= 2)
    expect(runs).toEqual([1, 1])
  })
})
