/** Leads a file back to who asked for it. */
export interface Watermark {
  /** Who asked. */
  by: string
  /** When, as ISO 8601. */
  at: string
  /** Of the task; where there is none, of the one request. */
  id: string
}

/** Who; when and for what. */
export function watermarkLines({ by, at, id }: Watermark): string[] {
  return [by, `${at.slice(0, 19).replace('T', ' ')} UTC · ${id}`]
}

export function watermarkText(mark: Watermark): string {
  return watermarkLines(mark).join(' · ')
}
