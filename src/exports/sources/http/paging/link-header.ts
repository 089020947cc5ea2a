import { excerpt } from '../../../../kernel/index.ts'
import { ShapeFault } from '../../json/index.ts'

const BETWEEN = /[\s,]*/y
const ADDRESS = /<([^>]*)>/y
/** Its name, and its value with or without quotes. Some send a semicolon with nothing after it. */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?)?/y
const END = /\s*(?:,|$)/y

/** The address of `rel="next"` in a Link header (RFC 8288), as it is written there. Throws where the header cannot be read. */
export function nextLink(header = ''): string | undefined {
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(header)
    if (found) at = pattern.lastIndex
    return found
  }
  const need = (pattern: RegExp) => {
    const found = take(pattern)
    if (found) return found
    throw new ShapeFault(`its header Link cannot be read at "${excerpt(header.slice(at), 40)}"`)
  }
  for (take(BETWEEN); at < header.length; take(BETWEEN)) {
    const [, address] = need(ADDRESS)
    let relations: string | undefined
    for (let found = take(PARAMETER); found; found = take(PARAMETER)) {
      const [, name, quoted, bare = ''] = found
      // The first one counts.
      if (name?.toLowerCase() === 'rel')
        relations ??= quoted?.replace(/\\(.)/g, '$1') ?? bare.replace(/^'(.*)'$/, '$1')
    }
    need(END)
    if (relations?.toLowerCase().split(/\s+/).includes('next')) return address
  }
  return undefined
}
