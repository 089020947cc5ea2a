import { excerpt } from '../../../kernel/index.ts'

const MOST_CHARACTERS = 300
/** Where answers have their reason, the most telling name first. */
const NAMES = ['detail', 'error_description', 'message', 'msg', 'reason', 'title', 'error', 'errors']

/** The reason in the text of an answer, in one short line: ` ("…")`, or nothing. */
export function quoted(text: string, type?: string): string {
  const line = shortLine(reasonIn(text, type))
  return line === '' ? '' : ` ("${line}")`
}

export function shortLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return excerpt(line, MOST_CHARACTERS)
}

function reasonIn(text: string, type = ''): string {
  try {
    return reasonOf(JSON.parse(text)) ?? text
  } catch {
    if (!/html|xml/i.test(type) && !/^\s*</.test(text)) return text
    return text.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>|<[^>]*>?/gi, ' ')
  }
}

/** Of an answer that is JSON. */
export function reasonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return reasonOf(value[0])
  if (typeof value !== 'object' || value === null) return undefined
  for (const name of NAMES) {
    const found = reasonOf((value as Record<string, unknown>)[name])
    if (found !== undefined && found.trim() !== '') return found
  }
  return undefined
}
