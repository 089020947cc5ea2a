import type { Log } from '../log.ts'

const MASK = '***'
/** A shorter value is no secret, and words of an error would be masked for it. */
const SHORTEST = 4
/** A part of a header: short ones are words such as `Bearer`, which say nothing. */
const SHORTEST_PART = 8
const SECRET_NAME = /key|token|secret|pass|pwd|sign|auth|credential|session/i
/** Headers that say nothing of their sender. */
const HARMLESS =
  /^(?:accept|accept-encoding|accept-language|content-type|content-length|user-agent|host|traceparent)$/i

/**
 * Hides the secrets of one request in whatever is said about it: the other side may repeat them in its answer, as they were sent or encoded.
 * Whoever quotes an answer in an error, a log line or a finding has it pass through here.
 */
export class SecretMask {
  readonly #secrets = new Set<string>()
  #forms: { all: string[]; pattern: RegExp } | undefined

  add(...secrets: (string | null | undefined)[]): this {
    for (const secret of secrets) if (secret && secret.length >= SHORTEST) this.#secrets.add(secret)
    this.#forms = undefined
    return this
  }

  /** The password of an address, or a user name without one; and parameters that are named like a secret. */
  addUrl(address: string | URL | null | undefined): this {
    const url = address instanceof URL ? address : URL.parse(address ?? '')
    if (!url) return this.add(/:[/\\]*[^/?#\\]*?([^/?#\\:]+)@/.exec(String(address))?.[1])
    // As a name alone it is a key over HTTP, and a name elsewhere.
    const secret = url.password || (/^https?:$/.test(url.protocol) ? url.username : '')
    for (const [name, value] of url.searchParams) if (SECRET_NAME.test(name)) this.add(value)
    return this.add(secret, decoded(secret))
  }

  /** Every header of a caller may be a secret, as a whole and in its parts. */
  addHeaders(headers: Readonly<Record<string, string>>): this {
    for (const [name, value] of Object.entries(headers)) {
      if (HARMLESS.test(name)) continue
      this.add(value.trim())
      for (const part of value.split(/[\s,;"]+|(?<=\w)=(?=[^=])/))
        if (part.length >= SHORTEST_PART) this.add(part)
      const basic = /^Basic\s+(\S+)$/i.exec(value)?.[1]
      if (basic === undefined) continue
      const pair = Buffer.from(basic, 'base64').toString()
      this.add(pair, pair.slice(pair.indexOf(':') + 1))
    }
    return this
  }

  /** Texts of a document whose names look like those of a secret. */
  addNamed(value: unknown): this {
    if (typeof value !== 'object' || value === null) return this
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && SECRET_NAME.test(name)) this.add(member)
      this.addNamed(member)
    }
    return this
  }

  text(text: string): string {
    if (this.#secrets.size === 0) return text
    this.#forms ??= formsOf(this.#secrets)
    const { all, pattern } = this.#forms
    const masked = text.replace(pattern, MASK)
    return masked.includes('…') ? withoutCutOnes(masked, all) : masked
  }

  /** The same value, with texts at any depth masked. */
  value<T>(value: T, done = new Map<unknown, unknown>()): T {
    if (typeof value === 'string') return this.text(value) as T
    if (typeof value !== 'object' || value === null) return value
    if (done.has(value)) return done.get(value) as T
    done.set(value, value)
    if (value instanceof Error) return this.#error(value, done)
    const prototype = Object.getPrototypeOf(value)
    if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
    const members = Object.entries(value).map(([name, member]) => [name, this.value(member, done)] as const)
    if (members.every(([name, member]) => member === (value as Record<string, unknown>)[name])) return value
    const masked = Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
    done.set(value, masked)
    return masked as T
  }

  /** The error itself, with its message, stack, details and causes masked. */
  error<E>(error: E): E {
    return this.value(error)
  }

  /** Errors of the work are masked. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.error(error)
    }
  }

  async *guardEach<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* items
    } catch (error) {
      throw this.error(error)
    }
  }

  log(log: Log): Log {
    return new Proxy(log, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown
        if (typeof member !== 'function') return member
        if (name === 'child') return (bindings: object) => this.log(target.child(this.value(bindings)) as Log)
        return (...given: unknown[]) => member.apply(target, this.value(given))
      },
    })
  }

  #error<E extends Error>(error: E, done: Map<unknown, unknown>): E {
    for (const name of Object.getOwnPropertyNames(error)) {
      const before = Reflect.get(error, name) as unknown
      const masked = this.value(before, done)
      if (masked !== before) Reflect.set(error, name, masked)
    }
    return error
  }
}

/** The beginning of what another side said. The sign at its end also says to a mask that a secret may have been cut in two. */
export function excerpt(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

function formsOf(secrets: ReadonlySet<string>): { all: string[]; pattern: RegExp } {
  const all = [...new Set([...secrets].flatMap(formsOfOne))]
    .filter((form) => form.length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
  return { all, pattern: new RegExp(all.map(literal).join('|'), 'g') }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** As it is, and as JSON, addresses, forms, XML, headers and base64 have it. */
function formsOfOne(secret: string): string[] {
  const well = secret.toWellFormed()
  const escaped = [encodeURIComponent(well), new URLSearchParams({ '': well }).toString().slice(1)]
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...escaped,
    ...escaped.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    Buffer.from(well).toString('latin1'),
    // OAuth has names and secrets in Basic as a form writes them.
    ...[well, ...escaped].flatMap((form) => [0, 1, 2].flatMap((offset) => inBase64(form, offset))),
  ]
}

/** The characters that are the same wherever the secret is in what was encoded: between `user:` and the end, say. */
function inBase64(secret: string, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  const first = Math.ceil((offset * 8) / 6)
  const end = Math.floor((bytes.length * 8) / 6)
  const form = bytes.toString('base64').slice(first, end)
  if (form.length < SHORTEST_PART - 2) return []
  return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
}

/** Masks the beginning of a secret whose rest was cut off. */
function withoutCutOnes(text: string, forms: readonly string[]): string {
  return text
    .split('…')
    .map((part, index, parts) => {
      if (index === parts.length - 1) return part
      const cut = Math.max(0, ...forms.map((form) => cutLength(part, form)))
      return cut === 0 ? part : `${part.slice(0, -cut)}${MASK}`
    })
    .join('…')
}

function cutLength(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length >= SHORTEST; length--)
    if (text.endsWith(form.slice(0, length))) return length
  return 0
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
