export interface PastedAccount {
  line: number
  handle: string
  url: string
}

type LineError = 'no_url' | 'bad_url' | 'twice'

export interface Pasted {
  accounts: PastedAccount[]
  errors: { line: number; text: string; error: LineError }[]
}

/**
 * One account a line: a handle and an address, with blanks, a tab, a comma or a semicolon between them, as they come
 * out of a table. Empty lines and lines that begin with # count for nothing.
 */
export function parseAccounts(text: string): Pasted {
  const pasted: Pasted = { accounts: [], errors: [] }
  const seen = new Set<string>()
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const line = index + 1
    const [, handle = '', url = ''] = /^([^\s,;]+)[\s,;]*(.*)$/.exec(trimmed) ?? []
    const error = seen.has(handle) ? 'twice' : wrongWith(url)
    seen.add(handle)
    if (error) pasted.errors.push({ line, text: trimmed, error })
    else pasted.accounts.push({ line, handle, url })
  }
  return pasted
}

function wrongWith(url: string): LineError | null {
  if (url === '') return 'no_url'
  return isWebAddress(url) ? null : 'bad_url'
}

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/\s/.test(text)
}
