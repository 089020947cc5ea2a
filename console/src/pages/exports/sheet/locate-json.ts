export interface Span {
  from: number
  to: number
}

/**
 * Where the value at `path` (`ceil[2].children[0].type`) stands in a JSON text that is known to be well formed. As deep
 * as the path leads: the place of a member that is missing is its object.
 */
export function locateJson(text: string, path: string): Span {
  const steps = [...path.matchAll(/\.?([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index))
  let span = valueAt(text, skipBlank(text, 0))
  for (const step of steps) {
    const next = childOf(text, span, step)
    if (!next) break
    span = next
  }
  return span
}

function skipBlank(text: string, at: number): number {
  let next = at
  while (/\s/.test(text[next] ?? '')) next++
  return next
}

/** The value that begins at `from`. */
function valueAt(text: string, from: number): Span {
  const first = text[from] ?? ''
  if (first === '"') return { from, to: endOfString(text, from) }
  if (first !== '{' && first !== '[') {
    let to = from
    while (to < text.length && !/[\s,\]}]/.test(text[to] ?? '')) to++
    return { from, to }
  }
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') at = endOfString(text, at) - 1
    else if (sign === '{' || sign === '[') depth++
    else if ((sign === '}' || sign === ']') && --depth === 0) return { from, to: at + 1 }
  }
  return { from, to: text.length }
}

function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function childOf(text: string, parent: Span, step: string | number): Span | undefined {
  const isObject = text[parent.from] === '{'
  if (!isObject && text[parent.from] !== '[') return undefined
  let at = skipBlank(text, parent.from + 1)
  for (let index = 0; at < parent.to - 1; index++) {
    let key: unknown = index
    if (isObject) {
      const { to } = valueAt(text, at)
      key = JSON.parse(text.slice(at, to))
      at = skipBlank(text, skipBlank(text, to) + 1)
    }
    const value = valueAt(text, at)
    if (key === step || key === String(step)) return value
    at = skipBlank(text, skipBlank(text, value.to) + 1)
  }
  return undefined
}
