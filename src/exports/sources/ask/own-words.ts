import { type Clock, withDeadline } from '../../../kernel/index.ts'
import { type PageAnswer, quoted } from '../pages/index.ts'
import { streamInUtf8 } from './decode-charset.ts'

const MOST_BYTES = 16 * 1024
/** A refusal is known without them: they are not worth a long wait. */
const MOST_MS = 5_000

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
