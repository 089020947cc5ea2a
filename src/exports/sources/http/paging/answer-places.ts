import { eachElement, eachMember, OPEN_BRACE, OPEN_BRACKET, ShapeFault, skipValue } from '../../json/index.ts'
import { saysMore } from '../says-more.ts'

/** Of a total, a cursor or an address. */
const MAX_VALUE_BYTES = 16 * 1024
/** `data.orders.pageInfo.hasNextPage` of GraphQL. */
const DEEPEST_MORE = 4

/** Finds values of an answer by their place: keys joined by dots, and numbers for the items of a list (`-1` is the last). */
export class AnswerPlaces {
  readonly #input: Buffer
  readonly #start: number
  readonly #headers: Readonly<Record<string, string>>
  /** Each object is read through once, however many places are inside of it. */
  readonly #members = new Map<number, Map<string, number>>()

  constructor(input: Buffer, start: number, headers: Readonly<Record<string, string>>) {
    this.#input = input
    this.#start = start
    this.#headers = headers
  }

  /** JSON of the first place that has a value: neither missing nor null. Of a header, its text as JSON. */
  json(places: readonly string[]): string | undefined {
    for (const place of places) {
      const [, name] = /^header:(.+)$/i.exec(place) ?? []
      const text = name === undefined ? this.#textAt(this.find(place)) : this.#header(name)
      if (text !== undefined && text !== 'null') return text
    }
    return undefined
  }

  /** Where the first list begins that is in one of the places. */
  list(places: readonly string[]): number | undefined {
    for (const place of places) {
      const at = this.find(place)
      if (at !== undefined && this.#input[at] === OPEN_BRACKET) return at
    }
    return undefined
  }

  find(place: string): number | undefined {
    return place === '' ? this.#start : this.#find(this.#start, place.split('.'))
  }

  /** The place of a member that says that there is more: of the answer, or of an object in it. */
  more(says = saysMore): string | undefined {
    const look = (at: number, before = '', depth = 1): string | undefined => {
      if (this.#input[at] !== OPEN_BRACE) return undefined
      for (const [key, value] of this.#membersAt(at)) {
        const place = `${before}${key}`
        if (this.#input[value] !== OPEN_BRACE && this.#input[value] !== OPEN_BRACKET) {
          if (says(key, this.#scalarAt(value))) return place
        } else if (depth < DEEPEST_MORE) {
          const inner = look(value, `${place}.`, depth + 1)
          if (inner !== undefined) return inner
        }
      }
      return undefined
    }
    return look(this.#start)
  }

  /** Undefined if it is too long to be a cursor. */
  #scalarAt(at: number): unknown {
    const end = skipValue(this.#input, at)
    return end - at > MAX_VALUE_BYTES ? undefined : JSON.parse(this.#input.toString('utf8', at, end))
  }

  /** A key that is the whole rest of the path wins, then shorter ones. */
  #find(at: number, path: readonly string[]): number | undefined {
    if (path.length === 0) return at
    if (this.#input[at] === OPEN_BRACKET) {
      const item = this.#item(at, path[0]!)
      return item === undefined ? undefined : this.#find(item, path.slice(1))
    }
    if (this.#input[at] !== OPEN_BRACE) return undefined
    const members = this.#membersAt(at)
    for (let length = path.length; length > 0; length--) {
      const member = members.get(path.slice(0, length).join('.'))
      const found = member === undefined ? undefined : this.#find(member, path.slice(length))
      if (found !== undefined) return found
    }
    return undefined
  }

  #item(list: number, index: string): number | undefined {
    if (!/^-?\d{1,3}$/.test(index)) return undefined
    const wanted = Number(index)
    // Of a list of any length no more than the wanted one, or the last few, is kept.
    const kept: number[] = []
    let place = 0
    eachElement(this.#input, list, (item) => {
      if (wanted < 0 || place === wanted) kept.push(item)
      if (wanted < 0 && kept.length > -wanted) kept.shift()
      place++
      return skipValue(this.#input, item)
    })
    return wanted < 0 && kept.length < -wanted ? undefined : kept[0]
  }

  /** Of equal keys the last one counts. */
  #membersAt(at: number): Map<string, number> {
    const known = this.#members.get(at)
    if (known) return known
    const members = new Map<string, number>()
    eachMember(this.#input, at, (key, value) => {
      members.set(key, value)
      return skipValue(this.#input, value)
    })
    this.#members.set(at, members)
    return members
  }

  #textAt(at: number | undefined): string | undefined {
    if (at === undefined) return undefined
    const end = skipValue(this.#input, at)
    if (end - at > MAX_VALUE_BYTES)
      throw new ShapeFault(`a total or cursor has more than ${MAX_VALUE_BYTES} bytes`)
    return this.#input.toString('utf8', at, end)
  }

  /** The number of all items in a Content-Range (`0-24/3573`) is after the slash; `*` says that it is not known. */
  #header(name: string): string | undefined {
    const value = this.#headers[name.toLowerCase()]
    if (value === undefined) return undefined
    const text = /^content-range$/i.test(name) ? value.slice(value.lastIndexOf('/') + 1) : value
    return text === '*' ? undefined : JSON.stringify(text.trim())
  }
}
