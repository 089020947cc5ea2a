/** Asks as a browser does that is on a page of the server: it keeps cookies and says where the page is from. */
export class CookieBrowser {
  readonly cookies = new Map<string, string>()
  readonly #home: string

  constructor(home: string) {
    this.#home = home
  }

  /** Follows no redirect. */
  async ask(
    method: string,
    address: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const url = new URL(address, this.#home)
    const changes = !['GET', 'HEAD'].includes(method)
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(changes && { origin: new URL(this.#home).origin }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const line of answer.headers.getSetCookie()) this.#keep(line)
    return answer
  }

  async json<T>(method: string, address: string, options: { body?: unknown } = {}): Promise<T> {
    return (await (await this.ask(method, address, options)).json()) as T
  }

  /** Goes where it is led, with a limit. */
  async follow(address: string): Promise<{ url: string; answer: Response }> {
    let url = new URL(address, this.#home).href
    for (let step = 0; step < 20; step++) {
      const answer = await this.ask('GET', url, { headers: { accept: 'text/html' } })
      const next = answer.headers.get('location')
      if (next === null || answer.status < 300 || answer.status >= 400) return { url, answer }
      url = new URL(next, url).href
      // Tests leave this machine for nobody.
      if (new URL(url).hostname !== '127.0.0.1') return { url, answer }
    }
    throw new Error('too many redirects')
  }

  signIn(key: string): Promise<Response> {
    return this.ask('POST', '/api/session', { body: { key } })
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const over = attributes.includes('Max-Age=0') || value === ''
    if (over) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
