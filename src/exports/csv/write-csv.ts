import { awaitedLater, freeMemory, openFile, orAborted } from '../../kernel/index.ts'
import { addFacts, type ColumnCounts, countsOf, noFacts } from '../sheet/index.ts'
import type { SpoolSegment } from '../sources/index.ts'
import { type ThreadPool, taskFunction } from '../threads/index.ts'
import { type Warning, warn } from '../warnings/index.ts'
import type { CsvLayout } from './csv-layout.ts'
import type { CsvRecipe, CsvSlice, RenderedSlice } from './csv-work.ts'
import { type EncodedText, encodeText } from './text-encoder.ts'

const SLICES = taskFunction<CsvSlice, RenderedSlice>(import.meta.url, 'csv-work', 'renderSlice')

export interface CsvFile {
  path: string
  segments: readonly SpoolSegment[]
  layout: CsvLayout & { recipe: CsvRecipe }
  signal: AbortSignal
}

/** Makes a file of typed records, slice by slice in the threads. Returns what is worth knowing about it, by column too. */
export async function writeCsv(
  { pool }: { pool: ThreadPool },
  { path, segments, layout, signal }: CsvFile,
): Promise<{ warnings: Warning[]; counts: ColumnCounts[] }> {
  const { recipe, head, labels } = layout
  const tasks = segments.flatMap(({ path, slices, group }) =>
    slices.map(({ offset, bytes }): CsvSlice => {
      const texts = group === undefined ? [] : (labels.get(group) ?? [])
      return { recipe, path, offset, bytes, labels: texts }
    }),
  )
  const { encoding } = recipe.dialect
  const losses = new Losses(encoding)
  const facts = noFacts(recipe.columns.length)
  const file = await openFile(path, 'w')
  try {
    const put = async (encoded: EncodedText) => {
      losses.add(encoded)
      await file.writeFile(encoded.bytes)
    }
    await put(encodeText(head, encoding))
    const sent: Promise<RenderedSlice>[] = []
    const take = async (result: Promise<RenderedSlice>) => {
      const rendered = await orAborted(result, signal)
      addFacts(facts, rendered.facts)
      await put(rendered)
      freeMemory(rendered.bytes)
    }
    const send = (task: CsvSlice) => {
      sent.push(awaitedLater(pool.run(SLICES, task, { signal })))
    }
    for (const task of tasks) {
      send(task)
      if (sent.length > pool.size) await take(sent.shift()!)
    }
    for (const result of sent) await take(result)
  } finally {
    await file.close()
  }
  return { warnings: losses.warnings, counts: countsOf(facts) }
}

/** Characters that an encoding lacks. */
class Losses {
  readonly #encoding: string
  #count = 0
  #first: string | null = null

  constructor(encoding: string) {
    this.#encoding = encoding
  }

  add({ lost, firstLost }: EncodedText): void {
    this.#count += lost
    this.#first ??= firstLost
  }

  get warnings(): Warning[] {
    if (this.#first === null) return []
    const point = this.#first.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    const first = { character: this.#first, code_point: `U+${point}` }
    return [warn('CHARACTERS_NOT_IN_ENCODING', { count: this.#count, encoding: this.#encoding, ...first })]
  }
}
