import { expect, test } from 'vitest'
import { Complaints } from '../../../src/carriers/swarm/coordinator/complaints.ts'
import { HeadProbe } from '../../../src/carriers/swarm/coordinator/relay/head-probe.ts'
import { PaceWatch } from '../../../src/carriers/swarm/coordinator/relay/pace-watch.ts'
import { RelayPlan } from '../../../src/carriers/swarm/coordinator/relay/relay-plan.ts'

const PIECES = 1_000

/** A chain whose agents report every 250 ms: pieces gained a report, and pieces that wait for their child. */
function setup(agents: Record<string, { gains: number; waits: number }>) {
  const names = Object.keys(agents)
  const plan = new RelayPlan()
  plan.addAll(names)
  const watch = new PaceWatch()
  for (const id of names) watch.reset(id, 0, 0)
  const around = {
    parentOf: (id: string) => plan.parentOf(id),
    childrenOf: (id: string) => plan.childrenOf(id),
    pieces: PIECES,
  }
  let now = 0
  let reports = 0
  return {
    watch,
    /** Who is called a bottleneck, after so many reports of everyone. */
    after(count: number): string[] {
      let found: string[] = []
      for (let report = 0; report < count; report++) {
        now += 250
        reports++
        for (const [id, { gains, waits }] of Object.entries(agents)) {
          const children = plan.childrenOf(id).map((child) => ({ id: child, waiting: waits }))
          watch.report(id, now, gains * reports, children)
        }
        found = names.filter((id) => watch.isBottleneck(id, now, around))
      }
      return found
    },
  }
}

test('an agent with data waiting for it and a tenth of the pace is the bottleneck; those behind it are not', () => {
  const { after } = setup({
    a: { gains: 10, waits: 1 },
    b: { gains: 10, waits: 40 },
    slow: { gains: 1, waits: 1 },
    behind: { gains: 1, waits: 0 },
  })
  expect(after(6)).toEqual(['slow'])
})

test('lag alone blames nobody: equal paces with data waiting everywhere are fine', () => {
  const equal = { gains: 10, waits: 40 }
  expect(setup({ a: equal, b: equal, c: equal }).after(8)).toEqual([])
})

test('one look is not enough', () => {
  const { after } = setup({ a: { gains: 10, waits: 40 }, slow: { gains: 1, waits: 0 } })
  expect(after(3)).toEqual([])
})

/** Four agents that all have just begun. */
function listen() {
  const watch = new PaceWatch()
  for (const id of ['a', 'b', 'c', 'd']) watch.reset(id, 0, 0)
  return watch
}

test('an agent that says nothing while others do is silent, and speaks again with its next report', () => {
  const watch = listen()
  for (const id of ['b', 'c', 'd']) watch.report(id, 600, 1, [])
  watch.looked(650, 250)
  expect(watch.isSilent('a', 650)).toBe(true)
  expect(watch.isSilent('b', 650)).toBe(false)
  watch.report('a', 700, 1, [])
  expect(watch.isSilent('a', 750)).toBe(false)
})

test('when everyone is heard of late, nobody is silent', () => {
  const watch = listen()
  for (const id of ['b', 'c', 'd']) watch.report(id, 600, 1, [])
  watch.looked(800, 800)
  expect(watch.isSilent('a', 800)).toBe(false)
  watch.looked(900, 800)
  expect(watch.isSilent('b', 900)).toBe(false)
})

test('an agent whose pieces arrive is alive, whether it reports or not', () => {
  const watch = listen()
  for (const id of ['b', 'c', 'd']) watch.report(id, 600, 9, [{ id: 'a', waiting: 2 }])
  watch.looked(650, 250)
  expect(watch.isSilent('a', 650)).toBe(false)
  // The same number again is no sign: that is what a frozen child looks like from its parent.
  for (const id of ['b', 'c', 'd']) watch.report(id, 1_300, 9, [{ id: 'a', waiting: 2 }])
  watch.looked(1_350, 700)
  expect(watch.isSilent('a', 1_350)).toBe(true)
})

test('a head is replaced when others twice get a piece three times as fast, and not again if that was no help', () => {
  const probe = new HeadProbe()
  const ask = (now: number, id = 'head', pace = 4) =>
    probe.due(now, [{ id, pace, left: 200 }], ['other'])[0]?.probe
  const answer = (number: number | undefined, now: number, rate = 40, prober = 'other') =>
    probe.answered({ probe: number!, prober, rate, now }, () => 4)
  expect(answer(ask(0), 50, 40, 'stranger')).toBeUndefined()
  expect(answer(ask(1_500), 1_550)).toBeUndefined()
  expect(answer(ask(1_600), 1_650)).toBe('head')
  expect(ask(3_000, 'next', 5)).toBeUndefined()
})

test('a head that only had a bad moment stays', () => {
  const probe = new HeadProbe()
  const ask = (now: number) => probe.due(now, [{ id: 'head', pace: 30, left: 200 }], ['other'])[0]?.probe
  const answer = (number: number | undefined, now: number, pace: number) =>
    probe.answered({ probe: number!, prober: 'other', rate: 40, now }, () => pace)
  expect(answer(ask(0), 50, 4)).toBeUndefined()
  expect(answer(ask(250), 300, 30)).toBeUndefined()
  expect(answer(ask(5_000), 5_050, 4)).toBeUndefined()
})

test('nobody can have every peer set aside by accusing them all', () => {
  const complaints = new Complaints()
  expect(complaints.badPiece('liar', 'a')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('honest', 'b')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('liar', 'b')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('liar', 'c')).toEqual({ blame: 'complainer', cleared: ['a', 'c'] })
})
