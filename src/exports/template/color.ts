/** What `bg_color: true` asks for. */
export const LIGHT_GREY = 'D9D9D9'

/** What `bg_color: false` asks for: it takes a fill of the theme away. */
export const NO_FILL = 'none'

const NAMED: ReadonlyMap<string, string> = new Map([
  ['black', '000000'],
  ['white', 'FFFFFF'],
  ['red', 'FF0000'],
  ['green', '008000'],
  ['blue', '0000FF'],
  ['yellow', 'FFFF00'],
  ['cyan', '00FFFF'],
])
const HEX = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i

/** RRGGBB of a named colour or of three or six hex digits, with or without `#`; undefined for anything else. */
export function parseColor(text: string): string | undefined {
  const trimmed = text.trim()
  const named = NAMED.get(trimmed.toLowerCase())
  if (named) return named
  const digits = HEX.exec(trimmed)?.[1]?.toUpperCase()
  if (!digits) return undefined
  return digits.length === 6 ? digits : digits.replace(/./g, '$&$&')
}

export const COLOR_HELP = `hex digits such as FFFEFE, or ${[...NAMED.keys()].join(', ')}`
