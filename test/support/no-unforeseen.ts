import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { unforeseen, unforeseenErrors } from '../../src/kernel/unforeseen.ts'

let forgiven = 0

/** For tests that make such errors on purpose. */
export function forgive(errors: number): void {
  forgiven += errors
}

/** Counts what a process of ours, whose output is piped, tells of them; also if it is killed afterwards. */
export function countUnforeseenOf(child: ChildProcess): void {
  if (!child.stdout) throw new Error('its output must be piped')
  createInterface(child.stdout).on('line', (line) => {
    if (line.includes('"unforeseen":')) unforeseen('a process of this test', new Error(line))
  })
}

/** How many there were since this was asked last, without those that were made on purpose. */
export function unforgiven(): number {
  const errors = unforeseenErrors() - forgiven
  forgiven += errors
  return errors
}
