import { type Clock, excerpt, withDeadline } from '../../../kernel/index.ts'
import type { PageAnswer } from '../pages/index.ts'
import { streamInUtf8 } from './decode-charset.ts'

const MOST_BYTES = 16 * 1024
const MOST_CHARACTERS = 300
/** A refusal is known without them: they are not worth a long wait. */
const MOST_MS = 5_000
/** Where answers have their reason, the most telling name first. */
const NAMES = ['detail', 'error_description', 'message', 'msg', 'reason', 'title', 'error', 'errors']

/**
 * The reason that a source gives in the body of a refusal, in one short line: ` ("…")`, or nothing. It is the source's own text, and may
 * repeat secrets that it was asked with: whoever shows it has it pass through the mask of the request.
 */
export async function ownWords(
  answer: PageAnswer,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<string> {
  if (answer.status < 400 || answer.status > 499) return ''
  const late = () => new Error('the reason came too slowly')
  const text = await withDeadline(clock, { ms: MOST_MS, signal, late }, () => beginning(answer)).catch(
    () => '',
  )
  signal.throwIfAborted()
  return quoted(text, answer.headers['content-type'])
}

/** The reason in the text of an answer, in the same form. */
export function quoted(text: string, type?: string): string {
  const line = oneLine(reasonIn(text, type))
  return line === '' ? '' : ` ("${excerpt(line, MOST_CHARACTERS)}")`
}

async function beginning(answer: PageAnswer): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of streamInUtf8(answer)) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MOST_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString()
}

function reasonIn(text: string, type = ''): string {
  try {
    return reasonOf(JSON.parse(text)) ?? text
  } catch {
    if (!/html|xml/i.test(type) && !/^\s*</.test(text)) return text
    return text.replace(/<(script|style)\b[\s\S]*?<\/\1\s*>|<[^>]*>?/gi, ' ')
  }
}

function reasonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return reasonOf(value[0])
  if (typeof value !== 'object' || value === null) return undefined
  for (const name of NAMES) {
    const found = reasonOf((value as Record<string, unknown>)[name])
    if (found !== undefined && found.trim() !== '') return found
  }
  return undefined
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}
