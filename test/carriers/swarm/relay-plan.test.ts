import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RelayPlan, SOURCE } from '../../../src/carriers/swarm/coordinator/relay/relay-plan.ts'

const ids = (count: number) => Array.from({ length: count }, (_, at) => `a${at}`)

test('a few agents stand in one chain, so that the file leaves the source once', () => {
  const plan = new RelayPlan({ depth: 50, maxChains: 20 })
  plan.addAll(ids(16))
  expect(plan.heads).toEqual(['a0'])
  expect(plan.parentOf('a7')).toBe('a6')
})

test('many agents stand in several chains, none longer than it must be', () => {
  const plan = new RelayPlan({ depth: 50, maxChains: 20 })
  plan.addAll(ids(1_000))
  expect(plan.heads).toHaveLength(20)
  const depthOf = (id: string): number => (id === SOURCE ? 0 : 1 + depthOf(plan.parentOf(id)))
  expect(Math.max(...plan.relays.map(depthOf))).toBe(50)
})

test('who took from an agent that is gone takes from the one before it, and nobody else moves', () => {
  const plan = new RelayPlan()
  plan.addAll(ids(5))
  plan.changes()
  plan.remove('a2')
  expect(plan.changes()).toEqual([{ id: 'a3', parent: 'a1' }])
})

test('an agent that is set aside hangs at the end and feeds nobody', () => {
  const plan = new RelayPlan()
  plan.addAll(ids(5))
  plan.changes()
  plan.setAside('a0')
  expect(plan.changes()).toEqual([
    { id: 'a1', parent: SOURCE },
    { id: 'a0', parent: 'a4' },
  ])
  plan.add('new')
  expect(plan.parentOf('new')).toBe('a4')
})

test('whatever happens, every agent has a way to the source that leads in no circle and through no leaf, and knows it', () => {
  const step = fc.tuple(
    fc.constantFrom('add', 'remove', 'setAside', 'restore', 'hangAtSource'),
    fc.integer({ min: 0, max: 11 }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, depth) => {
      const plan = new RelayPlan({ depth, maxChains: 3 })
      const present = new Set<string>()
      const told = new Map<string, string>()
      for (const [action, number] of steps) {
        const id = `a${number}`
        if (action !== 'add' && !present.has(id)) continue
        plan[action as 'add'](id)
        if (action === 'add') present.add(id)
        if (action === 'remove') present.delete(id)
        for (const change of plan.changes()) told.set(change.id, change.parent)
      }
      expect(plan.size).toBe(present.size)
      for (const id of present) {
        expect(told.get(id)).toBe(plan.parentOf(id))
        const way = new Set<string>()
        for (let at = id; at !== SOURCE; at = plan.parentOf(at)) {
          expect(way.has(at)).toBe(false)
          if (at !== id) expect(plan.isLeaf(at)).toBe(false)
          way.add(at)
          expect(plan.childrenOf(plan.parentOf(at))).toContain(at)
        }
      }
    }),
  )
})
