/** No other side may put Wharf off for longer than this. */
const RETRY_AFTER_CAP_SECONDS = 3600

const HTTP_DATE = /^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? /

/** Seconds to wait out of a `Retry-After` header: a number, or a date in any of the three forms of RFC 9110. */
export function parseRetryAfter(
  header: string | null | undefined,
  now: number,
  cap = RETRY_AFTER_CAP_SECONDS,
): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(cap, Number(text))
  if (!HTTP_DATE.test(text)) return undefined
  // asctime carries no zone but means GMT, where Date.parse would take the machine's own.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  if (Number.isNaN(at)) return undefined
  return Math.min(cap, Math.max(0, Math.ceil((at - now) / 1000)))
}
