import { expect, test } from 'vitest'
import { Complaints } from '../../../src/transfers/engines/swarm/complaints.ts'
import { HeadProbe } from '../../../src/transfers/engines/swarm/head-probe.ts'
import { PaceWatch } from '../../../src/transfers/engines/swarm/pace-watch.ts'
import { RelayPlan } from '../../../src/transfers/engines/swarm/relay-plan.ts'

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

test('an agent that says nothing for a second is silent, and speaks again with its next report', () => {
  const watch = new PaceWatch()
  watch.reset('a', 0, 0)
  expect(watch.isSilent('a', 800)).toBe(false)
  expect(watch.isSilent('a', 1_000)).toBe(true)
  watch.report('a', 1_100, 1, [])
  expect(watch.isSilent('a', 1_200)).toBe(false)
})

test('a head is replaced when somebody else gets a piece three times as fast, and not again if that was no help', () => {
  const probe = new HeadProbe()
  const [first] = probe.due(0, [{ id: 'head', pace: 4, left: 200 }], ['other'])
  expect(first?.prober).toBe('other')
  const answer = { probe: first!.probe, prober: 'other', rate: 40 }
  expect(probe.answered({ ...answer, prober: 'stranger' }, () => 4)).toBeUndefined()
  const [second] = probe.due(1_500, [{ id: 'head', pace: 4, left: 190 }], ['other'])
  expect(probe.answered({ ...answer, probe: second!.probe }, () => 4)).toBe('head')
  expect(probe.due(3_000, [{ id: 'next', pace: 5, left: 190 }], ['other'])).toEqual([])
})

test('nobody can have every peer set aside by accusing them all', () => {
  const complaints = new Complaints()
  expect(complaints.badPiece('liar', 'a')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('honest', 'b')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('liar', 'b')).toEqual({ blame: 'parent' })
  expect(complaints.badPiece('liar', 'c')).toEqual({ blame: 'complainer', cleared: ['a', 'c'] })
})
