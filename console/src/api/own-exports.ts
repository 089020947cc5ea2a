import type { ExportTask } from '../../../src/http/wire.ts'
import { Store } from '../store.ts'
import { namesOf } from './export-texts.ts'

/** How many were asked for in this page: one may have ended before its answer came, and its event gone by. */
export const asked = new Store(0)

const KEPT_AS = 'wharf.own-exports'
const MOST = 50

export interface OwnExport {
  id: string
  name: string
}

/** Exports that were asked for in this browser and of whose end nobody was told here yet. */
export function ownExports(): OwnExport[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT_AS) ?? '[]') as OwnExport[]
  } catch {
    return []
  }
}

function keep(list: readonly OwnExport[]): void {
  localStorage.setItem(KEPT_AS, JSON.stringify(list.slice(-MOST)))
}

export function rememberExport(task: ExportTask): void {
  const id = task.task_id
  const { name } = namesOf({ ...task, file: null })
  keep([...ownExports().filter((own) => own.id !== id), { id, name }])
  asked.set(asked.get() + 1)
}

/** The export, once: whoever takes it tells of its end. */
export function takeOwnExport(id: string): OwnExport | undefined {
  const list = ownExports()
  const own = list.find((one) => one.id === id)
  if (own) keep(list.filter((one) => one !== own))
  return own
}

export function forgetOwnExports(): void {
  localStorage.removeItem(KEPT_AS)
}
