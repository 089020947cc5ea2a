import { expect, test } from 'vitest'
import { readAgentMessage } from '../../../src/carriers/swarm/coordinator/read-agent-message.ts'

const read = (message: unknown) => readAgentMessage(JSON.stringify(message))
const done = { type: 'done', task: 't', code: 0, message: '' }
const report = { type: 'report', tasks: [{ task: 't', have: 1, parent: null, children: [] }] }

test('what an agent of ours says is understood', () => {
  const messages = [
    done,
    { ...done, code: 203, message: '/x is outside', places: [{ code: 203, message: '/x is outside' }] },
    report,
    { type: 'orphan', task: 't', parent: 'wharf://agent/a/', reason: 'lost', message: 'broke off' },
    { type: 'probed', task: 't', probe: 1, bytes: 65_536, ms: 0.25 },
  ]
  for (const message of messages) expect(read(message)).toEqual(message)
})

test('what would stop others is refused', () => {
  const refused = [
    null,
    7,
    [],
    {},
    { ...done, type: 'welcome' },
    // An object in place of a number went into the statement that keeps the results of all targets.
    { ...done, code: {} },
    { ...done, code: '0' },
    { ...done, code: 1.5 },
    // Only the server can know that the source failed, that time is over, or that a file is still on its way.
    ...[209, 208, 126, 117, 115, -1, 99_999].map((code) => ({ ...done, code })),
    { ...done, places: [{ code: 209, message: '' }] },
    { ...done, places: [{ code: 0 }] },
    { ...done, message: 'a\u0000b' },
    { ...done, message: { toString: 'x' } },
    { ...done, message: 'x'.repeat(10_001) },
    { ...done, task: 5 },
    { ...done, more: 1 },
    { ...report, tasks: {} },
    { ...report, tasks: [{ ...report.tasks[0], have: -1 }] },
    { ...report, tasks: [{ ...report.tasks[0], have: 'many' }] },
    { ...report, tasks: [{ ...report.tasks[0], children: [{ id: 'x', waiting: null }] }] },
    { type: 'probed', task: 't', probe: 1, bytes: 1, ms: '1e999' },
    { type: 'orphan', task: 't', parent: 'p', reason: 'whim', message: '' },
  ]
  for (const message of refused) expect(() => read(message), JSON.stringify(message)).toThrow()
  for (const text of ['', '{', '{"type":"done","task":"t","code":1e999,"message":""}'])
    expect(() => readAgentMessage(text)).toThrow()
})
