import type { RouteOptions } from 'fastify'

/** What has a meaning in a regular expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/** The paths of all routes with the methods that each takes, whichever route it is of. */
export class KnownPaths {
  readonly #paths = new Map<string, { form: RegExp; methods: Set<string> }>()

  add({ method, url }: RouteOptions): void {
    const known = this.#paths.get(url) ?? { form: formOf(url), methods: new Set<string>() }
    for (const one of [method].flat()) known.methods.add(one)
    this.#paths.set(url, known)
  }

  /** None where nothing is. */
  methodsAt(url: string): string[] {
    const path = url.split('?', 1)[0] ?? ''
    const here = [...this.#paths.values()].filter(({ form }) => form.test(path))
    return [...new Set(here.flatMap(({ methods }) => [...methods]))].toSorted()
  }
}

function formOf(url: string): RegExp {
  const parts = url.replace(/\/$/, '').split('/')
  const forms = parts.map((part) =>
    part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : part.replace(SPECIAL, '\\$&'),
  )
  return new RegExp(`^${forms.join('/')}/?$`)
}
