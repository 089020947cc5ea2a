import { expect, test } from 'vitest'
import { openProgress } from '../../src/cli/terminal/progress.ts'
import { ManualClock } from '../support/manual-clock.ts'

/** As much of a stream as a progress bar looks at. */
function setup({ isTTY }: { isTTY: boolean }) {
  let written = ''
  const stream = { isTTY, columns: 200, on: () => stream, write: (text: string) => (written += text) }
  const clock = new ManualClock()
  const progress = openProgress(stream as unknown as NodeJS.WriteStream, clock)
  return { progress, clock, written: () => written }
}

test('on a terminal there is a bar, and messages stand on lines of their own', () => {
  const { progress, written } = setup({ isTTY: true })
  progress.update({ stage: 'fetching', fetched: 0, total: 200 })
  progress.say('! page 3 is asked for again')
  progress.update({ stage: 'fetching', fetched: 100, total: 200 })
  progress.stop()
  expect(written()).toMatch(/fetching \[=+-+\] 50 % \| 100 of 200 rows/)
  expect(written()).toContain('\r\u001b[2K! page 3 is asked for again\n')
})

test('elsewhere there are lines: each stage, now and then between, and the last row', async () => {
  const { progress, clock, written } = setup({ isTTY: false })
  const fetched = (rows: number) => progress.update({ stage: 'fetching', fetched: rows, total: 400 })
  fetched(0)
  fetched(100)
  await clock.advance(2_000)
  fetched(200)
  fetched(300)
  fetched(400)
  progress.update({ stage: 'building', fetched: 400, total: 400 })
  progress.stop()
  expect(written().split('\n')).toEqual([
    'fetching: 0 of 400 rows, 0 %',
    'fetching: 200 of 400 rows, 50 %',
    'fetching: 400 of 400 rows, 100 %',
    'building the file',
    '',
  ])
})
