import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ExportView } from '../../src/exports/index.ts'
import { readWorkbooks, type SeenSheet } from '../exports/xlsx/foreign-reader.ts'
import type { BackendName } from './backends.ts'
import { BusinessSystem } from './business-system.ts'
import { type Ask, type HttpOptions, newProject, startHttp } from './http.ts'
import { until } from './until.ts'
import { temporaryFolder } from './wharf-process.ts'

export interface Problem {
  code: string
  status: number
  detail: string
  [member: string]: unknown
}

type Asking = (method: string, path: string, ask?: Ask) => Promise<Response>

/** What a business system's own program would do with exports. */
export class ExportClient {
  readonly ask: Asking
  readonly project: { id: string; key: string; secret: string }

  constructor(ask: Asking, project: { id: string; key: string; secret: string }) {
    this.ask = ask
    this.project = project
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.ask('POST', '/api/exports', { key: this.project.key, body, headers })
  }

  /** Asks for an export that is accepted. */
  async start(body: unknown, headers: Record<string, string> = {}): Promise<ExportView> {
    const answer = await this.post(body, headers)
    const view = (await answer.json()) as ExportView
    expect(answer.status, JSON.stringify(view)).toBe(202)
    return view
  }

  async get(taskId: string, more = ''): Promise<Response> {
    return this.ask('GET', `/api/exports/${taskId}${more}`, { key: this.project.key })
  }

  async task(taskId: string): Promise<ExportView> {
    return (await (await this.get(taskId)).json()) as ExportView
  }

  /** Any of the lists that belong to a task: events, deliveries, downloads. */
  async items<T>(taskId: string, what: 'events' | 'deliveries' | 'downloads'): Promise<T[]> {
    return ((await (await this.get(taskId, `/${what}`)).json()) as { items: T[] }).items
  }

  /** The task once it has ended, however it did. */
  async ended(taskId: string): Promise<ExportView> {
    return until(`export ${taskId} has ended`, async () => {
      const view = await this.task(taskId)
      return view.finished_at === null ? undefined : view
    })
  }

  /** Runs an export to its success. */
  async run(body: unknown): Promise<ExportView> {
    const view = await this.ended((await this.start(body)).task_id)
    expect(view.error).toBeNull()
    expect(view.status).toBe('succeeded')
    return view
  }

  async bytes(taskId: string): Promise<Buffer> {
    const answer = await this.get(taskId, '/file')
    expect(answer.status).toBe(200)
    return Buffer.from(await answer.arrayBuffer())
  }

  /** The lines of a CSV file, its mark and its last line break left out. */
  async lines(taskId: string): Promise<string[]> {
    const text = (await this.bytes(taskId)).toString()
    return text
      .replace(/^\ufeff/, '')
      .replace(/\r\n$/, '')
      .split('\r\n')
  }

  /** The sheets of an Excel file as openpyxl sees them. */
  async sheets(taskId: string): Promise<SeenSheet[]> {
    const path = join(temporaryFolder(), 'book.xlsx')
    writeFileSync(path, await this.bytes(taskId))
    return (await readWorkbooks([path]))[0] as SeenSheet[]
  }
}

/** A whole Wharf, a business system beside it, and a project that joins the two. */
export async function startExports(name: BackendName = 'embedded', options: HttpOptions = {}) {
  const wharf = await startHttp(name, options)
  const business = await BusinessSystem.start()
  const client = new ExportClient(wharf.ask, await newProject(wharf))
  return { ...wharf, wharf, business, client }
}

export async function problemOf(asked: Response | Promise<Response>): Promise<Problem> {
  const answer = await asked
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  const problem = (await answer.json()) as Problem
  expect(problem.status).toBe(answer.status)
  return problem
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
