import { AppError, ERRORS, isAddressable } from '../../kernel/index.ts'

export interface FeedItem {
  id: string
  url: string
  /** As the feed gives it, or the end of its address: not yet safe to use. */
  name: string
  type: string | undefined
  size: number | undefined
  createdAt: number | undefined
}

export interface FeedPage {
  items: FeedItem[]
  /** One sentence for each item that cannot be used. */
  broken: string[]
  nextCursor: string | null
}

/** Reads one page. A faulty item is reported and left out; an invalid page stops the run. */
export function readFeedPage(text: string, pageUrl: URL): FeedPage {
  const page = parse(text)
  if (!isRecord(page) || !Array.isArray(page.items)) throw invalid('it has no list of items')
  const next = page.next_cursor ?? null
  if (next !== null && ((typeof next !== 'string' && typeof next !== 'number') || !isKeepable(next)))
    throw invalid('its next_cursor is neither a text nor null')
  const items: FeedItem[] = []
  const broken: string[] = []
  for (const [index, entry] of page.items.entries()) {
    const item = readItem(entry, pageUrl)
    if (typeof item === 'string') broken.push(`item ${index + 1} of the page ${item}`)
    else items.push(item)
  }
  return { items, broken, nextCursor: next === null ? null : String(next) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('it is not JSON', cause)
  }
}

function readItem(entry: unknown, pageUrl: URL): FeedItem | string {
  if (!isRecord(entry)) return 'is no object'
  const { id, url, name, type, size } = entry
  if ((typeof id !== 'string' && typeof id !== 'number') || !isKeepable(id) || !isAddressable(String(id)))
    return 'has no usable id'
  const address = typeof url === 'string' ? URL.parse(url, pageUrl.href) : null
  if (!address || !/^https?:$/.test(address.protocol)) return `(${id}) has no http or https url`
  return {
    id: String(id),
    url: address.href,
    name: typeof name === 'string' && name.trim() !== '' ? name : lastSegment(address, String(id)),
    type: typeof type === 'string' ? type : undefined,
    size: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : undefined,
    createdAt: readTime(entry.created_at),
  }
}

/** PostgreSQL keeps no text with a zero character in it. */
function isKeepable(value: string | number): boolean {
  return value !== '' && !String(value).includes('\0')
}

function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

function lastSegment(url: URL, id: string): string {
  const segment = url.pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(segment) || id
  } catch {
    return segment
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(why: string, cause?: unknown): AppError {
  return new AppError(ERRORS.FEED_INVALID, `the feed cannot be used: ${why}`, { cause })
}
