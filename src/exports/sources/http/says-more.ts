/** Keys by which an answer says in one word whether there is more. */
const HAS_MORE =
  /^(?:has_?(?:more|next)(?:_?(?:pages?|items|results|rows|records))?|more|more_?(?:pages?|items|results|rows|records|available)|is_?truncated)$/i
/** Keys of what leads to more. */
const NEXT =
  /^(?:next|after|next_?(?:cursor|url|uri|link|href|page|page_?token|token|page_?url|offset|start|key)|continuation_?token|cursor|end_?cursor)$/i
/** Of these, keys that some sources fill on the last page too. */
const NOT_SURE = /^(?:cursor|end_?cursor)$/i

/** Whether a member of an answer is where it goes on: a text, a number, or an object with an address. */
export function leadsOn(key: string, value: unknown): boolean {
  return NEXT.test(key) && (isFilled(value) || hrefOf(value) !== undefined)
}

/** Whether a member of an answer states in one word that there is more than the answer has. */
export function hasMore(key: string, value: unknown): boolean {
  return HAS_MORE.test(key) && (value === true || value === 'true')
}

/** The same, or leads to it. */
export function saysMore(key: string, value: unknown): boolean {
  if (HAS_MORE.test(key)) return hasMore(key, value)
  return !NOT_SURE.test(key) && leadsOn(key, value)
}

/** Of a link as an object, as HAL has it. */
export function hrefOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('href' in value)) return undefined
  return typeof value.href === 'string' && value.href !== '' ? value.href : undefined
}

function isFilled(value: unknown): boolean {
  return typeof value === 'number' ? value > 0 : typeof value === 'string' && value !== ''
}
