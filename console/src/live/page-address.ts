import { navigate, usePathname, useSearch } from 'wouter/use-browser-location'

/** The address of the page of one thing. Names may hold any character: what would end or split a path is escaped. */
export function addressOf(list: `/${string}`, name: string): string {
  return `${list}/${encodeURIComponent(name.toWellFormed())}`
}

/** The name in a part of an address, decoded once; null if nothing is written so. */
export function nameIn(part: string | undefined): string | null {
  try {
    return decodeURIComponent(part ?? '') || null
  } catch {
    return null
  }
}

/**
 * wouter decodes a path and a query before it hands them over, so that whoever reads a name from them would decode it twice. Escaped
 * once more, they arrive as the browser has them.
 */
export const AS_WRITTEN = {
  hook: (): [string, typeof navigate] => [escaped(usePathname()), navigate],
  searchHook: (): string => escaped(useSearch()),
}

const escaped = (address: string) => address.replaceAll('%', '%25')
