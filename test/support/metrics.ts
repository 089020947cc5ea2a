import { requireBinary } from './find-binary.ts'

/** Debian's promtool; undefined where it cannot be had, and then a line says so. */
export function findPromtool(): string | undefined {
  const path = requireBinary('promtool')
  if (path === undefined) console.error('!!! SKIPPED: promtool cannot be installed here')
  return path
}

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** What a scrape says: families with their types, and samples. */
export class Scrape {
  readonly text: string
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]

  constructor(text: string) {
    this.text = text
    this.types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    )
    this.samples = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(readSample)
  }

  /** The sum of all samples of this name with these labels. */
  sum(name: string, labels: Record<string, string> = {}): number {
    return this.samples
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
      .reduce((sum, { value }) => sum + value, 0)
  }
}

function readSample(line: string): Sample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text])
  return { name, labels: Object.fromEntries(pairs), value: Number(value) }
}
