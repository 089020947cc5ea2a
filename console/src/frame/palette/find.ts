import { namesOf } from '../../api/export-texts.ts'
import { listExports } from '../../api/exports.ts'
import { getState } from '../../api/runs.ts'
import type { Session } from '../../api/session.ts'
import { listTasks } from '../../api/tasks.ts'
import { listFiles } from '../../api/transfers.ts'
import { addressOf } from '../../live/page-address.ts'

export interface Found {
  kind: 'exports' | 'saved' | 'templates' | 'accounts' | 'files' | 'tasks'
  id: string
  title: string
  /** What tells it from another of the same name. */
  about: string
  path: string
}

export const MOST_OF_A_KIND = 6

interface Asked {
  text: string
  role: Session['role']
  signal: AbortSignal
}

/** Tasks, accounts and files whose names have the text. What one kind cannot tell leaves the others alone. */
export async function find({ text, role, signal }: Asked): Promise<Found[]> {
  const has = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  const lists = await Promise.allSettled([
    findExports(text, signal),
    role === 'admin' ? findAccounts(has, signal) : [],
    role === 'project' ? findFiles(text, signal) : [],
    findTasks(has, signal),
  ])
  return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value.slice(0, MOST_OF_A_KIND) : []))
}

async function findExports(search: string, signal: AbortSignal): Promise<Found[]> {
  const { items } = await listExports({ search }, { cursor: null, signal, limit: MOST_OF_A_KIND })
  return items.map((task) => {
    const { name, about } = namesOf(task)
    return {
      kind: 'exports',
      id: task.task_id,
      title: name,
      about: [about, task.operator_id, dayOf(task.created_at)].filter(Boolean).join(' · '),
      path: addressOf('/exports', task.task_id),
    }
  })
}

async function findAccounts(has: (name: string) => boolean, signal: AbortSignal): Promise<Found[]> {
  const { accounts } = await getState(signal)
  return accounts
    .filter(({ handle, url }) => has(`${handle} ${url}`))
    .map(({ handle, url }) => ({
      kind: 'accounts',
      id: handle,
      title: handle,
      about: url,
      path: `/runs?${new URLSearchParams({ search: handle })}`,
    }))
}

async function findFiles(prefix: string, signal: AbortSignal): Promise<Found[]> {
  const { items } = await listFiles(prefix, signal)
  return items.map(({ path, put_at }) => ({
    kind: 'files',
    id: path,
    title: path,
    about: dayOf(put_at),
    path: `/transfers/new?${new URLSearchParams({ file: path })}`,
  }))
}

async function findTasks(has: (name: string) => boolean, signal: AbortSignal): Promise<Found[]> {
  const { items } = await listTasks(undefined, { cursor: null, signal })
  return items
    .filter(({ task_id, file_name }) => has(`${file_name} ${task_id}`))
    .map(({ task_id, file_name, created_at }) => ({
      kind: 'tasks',
      id: task_id,
      title: file_name,
      about: dayOf(created_at),
      path: addressOf('/processing', task_id),
    }))
}

/** The day on the reader's calendar, as everywhere. */
function dayOf(at: string): string {
  const time = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
}
