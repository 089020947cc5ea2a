import { AppError, ERRORS } from '../../../kernel/index.ts'
import type { PageAnswer } from '../pages/index.ts'

const UTF_8 = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8'])

/** The body in UTF-8, whatever charset its `Content-Type` names. JSON without a charset is UTF-8. */
export function inUtf8({ headers, body }: PageAnswer, page: number): PageAnswer['body'] {
  const charset = charsetOf(headers['content-type'])
  if (charset === undefined || UTF_8.has(charset)) return body
  return decoded(body, decoderFor(charset, page), page)
}

/** In lower case, and without the quotes that some put around it. */
function charsetOf(contentType = ''): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase()
}

function decoderFor(charset: string, page: number): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    const shown = charset.slice(0, 40)
    throw notJson(page, `its charset is "${shown}", which Wharf does not know; answer in UTF-8`, false)
  }
}

async function* decoded(
  body: PageAnswer['body'],
  decoder: InstanceType<typeof TextDecoder>,
  page: number,
): AsyncGenerator<Uint8Array> {
  const decode = (chunk?: Uint8Array): Uint8Array => {
    try {
      return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode())
    } catch {
      throw notJson(page, `it is not valid ${decoder.encoding}, as its Content-Type says`)
    }
  }
  for await (const chunk of body) yield decode(chunk)
  yield decode()
}

function notJson(page: number, reason: string, retryable = true): AppError {
  return new AppError(ERRORS.SOURCE_NOT_JSON, `page ${page} is not JSON: ${reason}`, { retryable })
}
