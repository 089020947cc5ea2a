/** What is wrong with a page's JSON, and at which byte of the page. Turned into an AppError where the page is known. */
export class JsonFault extends Error {
  readonly offset: number

  constructor(reason: string, offset: number) {
    super(`${reason} at byte ${offset}`)
    this.name = 'JsonFault'
    this.offset = offset
  }
}

export function fault(reason: string, offset: number): never {
  throw new JsonFault(reason, offset)
}

/** A page that is JSON, but not what was asked for. */
export class ShapeFault extends Error {
  override readonly name = 'ShapeFault'
}

/** Rows whose row header is not in the template, or that name none. */
export class UnknownRowHead extends Error {
  override readonly name = 'UnknownRowHead'
}
