import { isIP } from 'node:net'
import { AppError, ERRORS, messageOf, SecretMask } from '../kernel/index.ts'
import type { Notice } from './notice-text.ts'

export interface MailerOptions {
  /** smtp:// or smtps:// */
  url: string
  /** Null: made of the host of the public address. */
  from: string | null
  publicUrl: string
}

const CONNECT_MS = 15_000
const SILENCE_MS = 30_000
/** Where the server refuses this mail, as opposed to being away, full or unsure. */
const REFUSED = { from: 500, to: 599 }

/** Sends one e-mail at a time over a connection of its own; the library is loaded with the first one. */
export class Mailer {
  readonly #options: MailerOptions

  constructor(options: MailerOptions) {
    this.#options = options
  }

  async send(to: string, notice: Notice, { id, signal }: { id: string; signal: AbortSignal }): Promise<void> {
    const { createTransport } = await import('nodemailer')
    const { url, from, publicUrl } = this.#options
    const { hostname } = new URL(publicUrl)
    const domain = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : 'localhost'
    const transport = createTransport(
      {
        url,
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        // A message is what it says: nothing is read from files or addresses.
        disableFileAccess: true,
        disableUrlAccess: true,
      },
      { from: from ?? `Wharf <wharf@${domain}>` },
    )
    const stop = () => transport.close()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await transport.sendMail({
        to: { name: '', address: to },
        subject: notice.subject,
        text: notice.text,
        html: notice.html,
        // The same for each attempt: a mail that arrives twice can be recognized.
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    } catch (error) {
      signal.throwIfAborted()
      throw new SecretMask().addUrl(url).error(toMailError(error))
    } finally {
      signal.removeEventListener('abort', stop)
      transport.close()
    }
  }
}

function toMailError(error: unknown): AppError {
  const { responseCode, code } = error as { responseCode?: number; code?: string }
  const message = messageOf(error)
  const refused = responseCode !== undefined && responseCode >= REFUSED.from && responseCode <= REFUSED.to
  // A wrong password is the operator's to correct; until then nothing is lost.
  if (refused && code !== 'EAUTH')
    return new AppError(ERRORS.MAIL_REFUSED, `the mail server refuses: ${message}`, {
      cause: error,
      retryable: false,
      details: { status: responseCode },
    })
  return new AppError(ERRORS.MAIL_UNAVAILABLE, `the mail server cannot be used: ${message}`, { cause: error })
}
