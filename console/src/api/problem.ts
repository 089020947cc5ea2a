/** One thing that is wrong with a request: the rule of JSON Schema that does not hold, and where. */
export interface Mistake {
  path: string
  message: string
  rule?: string
  limit?: number
  /** The field that is missing, or that there is not. */
  name?: string
}

/** An error that the server has told (RFC 9457), or that the way to it has. `code` can be searched for in the docs. */
export class Problem extends Error {
  readonly code: string
  readonly status: number
  /** Where in the request it lies, when one place is to blame. */
  readonly path: string | undefined
  /** The column inside the text at `path`, counted from 1. */
  readonly position: number | undefined
  readonly mistakes: readonly Mistake[]
  /** When what was to be changed was changed by another; null: it is gone; undefined: of no account. */
  readonly changedAt: string | null | undefined
  /** No answer came, and asking again makes nothing twice. */
  readonly madeOnce: boolean

  constructor(
    code: string,
    status: number,
    message: string,
    place: {
      path?: string | undefined
      position?: number | undefined
      mistakes?: readonly Mistake[]
      changedAt?: string | null | undefined
      madeOnce?: boolean
    } = {},
  ) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.status = status
    this.path = place.path
    this.position = place.position
    this.mistakes = place.mistakes ?? []
    this.changedAt = place.changedAt
    this.madeOnce = place.madeOnce ?? false
  }
}

export async function problemOf(answer: Response): Promise<Problem> {
  const body = (await answer.json().catch(() => ({}))) as {
    code?: string
    detail?: string
    path?: string
    position?: number
    errors?: Mistake[]
    updated_at?: string | null
  }
  return new Problem(body.code ?? `HTTP_${answer.status}`, answer.status, body.detail ?? answer.statusText, {
    path: body.path ?? body.errors?.[0]?.path,
    position: body.position,
    changedAt: body.updated_at,
    ...(body.errors && { mistakes: body.errors }),
  })
}
