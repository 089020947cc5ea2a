import type { PageAnswer, PageSource } from '../../../../src/exports/sources/pages/index.ts'

export interface Ask {
  page: number
  pageSize: number
  /** How often this page was asked for before. */
  again: number
}

type Answer = string | object | Partial<PageAnswer>

/** Answers from a function; a string or object is a good answer with that body. */
export class MemorySource implements PageSource {
  readonly asked: Ask[] = []
  readonly #answer: (ask: Ask) => Answer | Promise<Answer>

  constructor(answer: (ask: Ask) => Answer | Promise<Answer>) {
    this.#answer = answer
  }

  async get(page: number, pageSize: number): Promise<PageAnswer> {
    const again = this.asked.filter((ask) => ask.page === page && ask.pageSize === pageSize).length
    this.asked.push({ page, pageSize, again })
    const answer = await this.#answer({ page, pageSize, again })
    if (typeof answer === 'object' && ('status' in answer || 'body' in answer) && !('data' in answer))
      return { status: 200, headers: {}, body: chunks(''), ...answer }
    return {
      status: 200,
      headers: {},
      body: chunks(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    }
  }

  /** Pages asked for, the probe left out. */
  get pages(): number[] {
    return this.asked.filter((ask) => ask.pageSize !== 1).map((ask) => ask.page)
  }
}

/** In uneven pieces, as a network would. */
export async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0, size = 7; at < bytes.length; at += size, size *= 3) yield bytes.subarray(at, at + size)
}

export interface SampleRow {
  id: number
  name: string
  amount: number | null
}

export function sampleRows(total: number): SampleRow[] {
  return Array.from({ length: total }, (_, id) => ({
    id,
    name: id % 5 === 0 ? `客户 "${id}"` : `customer ${id}`,
    amount: id % 7 === 0 ? null : id * 1.25,
  }))
}

/** The rows of one page. */
export function pageOf<T>(rows: T[], { page, pageSize }: { page: number; pageSize: number }): T[] {
  return rows.slice(page * pageSize, (page + 1) * pageSize)
}

export function spoolText(rows: SampleRow[]): string {
  return rows.map(({ id, name, amount }) => `${id},"${name.replaceAll('"', '""')}",${amount}\n`).join('')
}
